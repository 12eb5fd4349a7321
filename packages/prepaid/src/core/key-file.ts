import { parseAmount } from "@sotto/protocol";
import { assertInteger, assertObject, assertText, describe, fail, recode } from "@sotto/protocol/extend";
import { laterEpoch } from "./epoch.ts";
import { MAX_PREPAID_EPOCHS } from "./schedule.ts";
import { prepaidChallengeDigest } from "./token.ts";
import { assertPrepaidValue, MAX_PREPAID_VALUES } from "./values.ts";

/** Maximum size of keys.json, bytes. A file with a key for each of 12 values in 12 epochs has about 260,000. */
export const MAX_PREPAID_KEY_FILE_BYTES = 1 << 20;
/** Room for the keys of a schedule and for those of the next year. */
const MAX_KEYS = 3 * MAX_PREPAID_EPOCHS * MAX_PREPAID_VALUES;
/** Maximum length of a private key in characters; one of 2,048 bits has about 1,700. */
const MAX_PEM_LENGTH = 2048;
const PEM = /^-----BEGIN PRIVATE KEY-----\n(?:[A-Za-z0-9+/=]{1,76}\n)+-----END PRIVATE KEY-----\n?$/;

/** A private key of a schedule, which signs tokens. */
export interface PrepaidPrivateKey {
  /** The UTC month in which the key signs, such as "2026-11". */
  readonly epoch: string;
  /** Base units: 1, 2 or 5 times a power of ten. */
  readonly value: bigint;
  /** PKCS #8 as PEM, rsaEncryption, 2,048 bits. Secret. */
  readonly privateKey: string;
}

/** The content of keys.json: the private keys of one or more schedules of one origin. */
export interface PrepaidKeyFile {
  /** Origin at which the tokens are spent, such as "https://data.example". */
  readonly origin: string;
  /** At most one key for each value and epoch, 1 to 432 in total. */
  readonly keys: readonly PrepaidPrivateKey[];
}

/** keys.json as JSON. */
export interface WirePrepaidKeyFile {
  readonly version: 1;
  /** Origin at which the tokens are spent, such as "https://data.example". */
  readonly origin: string;
  /**
   * The keys with their epochs, such as "2026-11", their values in base units, decimal, and as PKCS #8 in PEM. Secret.
   */
  readonly keys: readonly { readonly epoch: string; readonly value: string; readonly privateKey: string }[];
}

function parseKey(entry: unknown, name: string): PrepaidPrivateKey {
  assertObject(entry, name);
  const { epoch, value, privateKey } = entry as Record<keyof PrepaidPrivateKey, unknown>;
  if (typeof privateKey !== "string" || privateKey.length > MAX_PEM_LENGTH || !PEM.test(privateKey))
    fail("INVALID_ARGUMENT", `the privateKey of ${name} must be PKCS #8 as PEM, got ${describe(privateKey)}`);
  return {
    epoch: laterEpoch(assertText(epoch, `the epoch of ${name}`), 0),
    value: assertPrepaidValue(parseAmount(value, `the value of ${name}`)),
    privateKey,
  };
}

/**
 * Parses the JSON value of keys.json. Does not check that the PEM texts are RSA keys, or that a schedule has these
 * keys: see `@sotto/resource-server`.
 * @throws SottoError INVALID_ARGUMENT; the message never contains a key
 */
export function decodePrepaidKeyFile(json: unknown): PrepaidKeyFile {
  return recode("INVALID_ARGUMENT", "not a file of prepaid keys", () => {
    assertObject(json, "the file");
    const { version, origin, keys } = json as Record<keyof WirePrepaidKeyFile, unknown>;
    assertInteger(version, 1, 1, "version");
    if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
      fail("INVALID_ARGUMENT", `keys must be an array of 1 to ${MAX_KEYS}, got ${describe(keys)}`);
    const parsed = keys.map((entry: unknown, i) => parseKey(entry, `key ${i + 1}`));
    const unique = (field: (key: PrepaidPrivateKey) => string) => new Set(parsed.map(field)).size === parsed.length;
    if (!unique(({ epoch, value }) => `${epoch} ${value}`))
      fail("INVALID_ARGUMENT", "keys must have at most one key for each value and epoch");
    if (!unique(({ privateKey }) => privateKey)) fail("INVALID_ARGUMENT", "keys must not have a key twice");
    const text = assertText(origin, "origin");
    prepaidChallengeDigest(text);
    return { origin: text, keys: parsed };
  });
}

/** Inverse of `decodePrepaidKeyFile`. @throws SottoError INVALID_ARGUMENT */
export function encodePrepaidKeyFile({ origin, keys }: PrepaidKeyFile): WirePrepaidKeyFile {
  const wire = {
    version: 1 as const,
    origin,
    keys: keys.map(({ epoch, value, privateKey }) => ({ epoch, value: String(value), privateKey })),
  };
  decodePrepaidKeyFile(wire);
  return wire;
}
