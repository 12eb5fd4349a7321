// The viewing keys of one wallet, and the file in which an owner gives them to people and programs that read its income.
import { BASE8, multiplyPoint } from "./curve/babyjub.ts";
import { fail, ProtocolError, recode } from "./errors.ts";
import { assertViewingKey } from "./keys.ts";
import { describeMonths, type Month, parseMonth } from "./month.ts";
import { type Fields, fieldsOf } from "./object-fields.ts";
import { trimPasted } from "./pasted.ts";
import { decodeShieldedAddress } from "./shielded-address.ts";
import { assertField, assertObject, parseField } from "./validate.ts";

/** A key that shows everything that one address receives in one pool, and cannot spend it. */
export interface ViewingKey {
  /** Odd, in [1, l). */
  readonly viewingKey: bigint;
  /** The address whose payments the key decrypts. */
  readonly shieldedAddress: string;
  /** The month of the address. Default: none, for the lasting address. */
  readonly month?: Month | undefined;
  /** Also finds the change of the month's payments and withdrawals, for an auditor. Default: none. */
  readonly changeKey?: bigint | undefined;
}

/** Viewing keys of one wallet in one pool: of its lasting address, of months, or of both. */
export interface ViewingKeys {
  /** tag_0 of the wallet, the second half of each address. */
  readonly ownerTag: bigint;
  /** 1 to MAX_VIEWING_KEYS, at most one for each month and one for the lasting address. */
  readonly keys: readonly ViewingKey[];
}

/** The pool that viewing keys belong to. */
interface KeyPool {
  readonly chainId: bigint | number;
  /** Lower-case hex with 0x. */
  readonly pool: string;
}

/** Maximum number of keys in a file: those of twenty years. */
export const MAX_VIEWING_KEYS = 240;

const CODE = "INVALID_KEY";
const TYPE = "sotto-viewing-key";
/** Maximum length of the text of viewing keys, characters: each key takes at most 400. */
export const MAX_VIEWING_KEYS_LENGTH = 400 * MAX_VIEWING_KEYS + 1_000;

/** Checks that a key belongs to its address: another key would find nothing, without an error. @returns tag_0 */
function assertOwnAddress({ viewingKey, shieldedAddress }: ViewingKey): bigint {
  let address: ReturnType<typeof decodeShieldedAddress>;
  try {
    address = decodeShieldedAddress(shieldedAddress);
  } catch (cause) {
    throw new ProtocolError(CODE, "the shielded address of the viewing key is malformed", {}, { cause });
  }
  const { x, y } = multiplyPoint(BASE8, assertViewingKey(viewingKey));
  const { encryptionKey, ownerTag } = address;
  if (x !== encryptionKey.x || y !== encryptionKey.y)
    fail(CODE, "the viewing key does not belong to its shielded address");
  return ownerTag;
}

function parseKey(value: ViewingKey, ownerTag: bigint): ViewingKey {
  assertObject(value, "a viewing key");
  const { viewingKey, shieldedAddress, month, changeKey } = value;
  if (assertOwnAddress(value) !== ownerTag) fail(CODE, "the viewing keys belong to several wallets");
  return Object.freeze({
    viewingKey,
    shieldedAddress: shieldedAddress.toLowerCase(),
    ...(month === undefined ? {} : { month: parseMonth(month) }),
    ...(changeKey === undefined ? {} : { changeKey: assertField(changeKey, "changeKey") }),
  });
}

/** Sets that `assertViewingKeys` returned. They are frozen, so they stay valid. */
const checked = new WeakSet<object>();

/**
 * Checks that each key belongs to its address, that all addresses are of one wallet, and that no month is repeated. Returns
 * the keys frozen, in the order of their months with the lasting one first; checking that object again costs nothing.
 * @throws SottoError INVALID_KEY; the message never contains a key
 */
export function assertViewingKeys(value: unknown): ViewingKeys {
  return recode(CODE, "not viewing keys", () => {
    if (checked.has(value as object)) return value as ViewingKeys;
    assertObject(value, "viewing keys");
    const { ownerTag, keys } = value as ViewingKeys;
    assertField(ownerTag, "ownerTag");
    if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_VIEWING_KEYS)
      fail(CODE, `viewing keys must be 1 to ${MAX_VIEWING_KEYS}`);
    const parsed = (keys as ViewingKey[]).map((key) => parseKey(key, ownerTag));
    const sorted = parsed.sort((a, b) => ((a.month ?? "") < (b.month ?? "") ? -1 : 1));
    for (const [i, { month }] of sorted.entries())
      if (i > 0 && sorted[i - 1]?.month === month) fail(CODE, `two keys are of ${month ?? "the lasting address"}`);
    const result = Object.freeze({ ownerTag, keys: Object.freeze(sorted) });
    checked.add(result);
    return result;
  });
}

const toHex = (key: bigint): string => `0x${key.toString(16).padStart(64, "0")}`;

/**
 * The JSON of viewing keys, for a file. It is a secret: it shows every incoming payment of the addresses.
 * @throws SottoError INVALID_KEY
 */
export function formatViewingKeys(keys: ViewingKeys, place: KeyPool): string {
  const set = assertViewingKeys(keys);
  assertObject(place, "the pool");
  const { chainId, pool } = place;
  return JSON.stringify({
    type: TYPE,
    version: 2,
    chainId: String(chainId),
    pool,
    ownerTag: String(set.ownerTag),
    keys: set.keys.map(({ month, viewingKey, shieldedAddress, changeKey }) => ({
      ...(month === undefined ? {} : { month }),
      viewingKey: toHex(viewingKey),
      shieldedAddress,
      ...(changeKey === undefined ? {} : { changeKey: toHex(changeKey) }),
    })),
  });
}

function parseJson(text: string): unknown {
  if (typeof text !== "string" || text.length > MAX_VIEWING_KEYS_LENGTH)
    fail(CODE, `viewing keys must be a text of at most ${MAX_VIEWING_KEYS_LENGTH} characters`);
  try {
    return JSON.parse(trimPasted(text));
  } catch {
    // The cause would repeat a part of the text.
    fail(CODE, "the text is not a viewing key that sotto wrote");
  }
}

function parseHex(value: unknown, name: string): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-f]{64}$/.test(value))
    fail(CODE, `${name} must be 0x and 64 hexadecimal digits`);
  return BigInt(value);
}

function readKey(read: Fields): ViewingKey {
  const [shieldedAddress, month, changeKey] = [read("shieldedAddress"), read("month"), read("changeKey")];
  if (typeof shieldedAddress !== "string") fail(CODE, "shieldedAddress must be a text");
  return {
    viewingKey: parseHex(read("viewingKey"), "viewingKey"),
    shieldedAddress,
    ...(month === undefined ? {} : { month: parseMonth(month) }),
    ...(changeKey === undefined ? {} : { changeKey: parseHex(changeKey, "changeKey") }),
  };
}

/** Version 1 has the one key of the lasting address. */
function readKeys(read: Fields): ViewingKeys {
  if (read("version") === 1) {
    const key = readKey(read);
    return { ownerTag: assertOwnAddress(key), keys: [key] };
  }
  const keys = read("keys");
  if (!Array.isArray(keys) || keys.length > MAX_VIEWING_KEYS)
    fail(CODE, `keys must be an array of at most ${MAX_VIEWING_KEYS} keys`);
  return {
    ownerTag: parseField(read("ownerTag"), "ownerTag"),
    keys: keys.map((key: unknown) => readKey(fieldsOf(key, "a viewing key", CODE))),
  };
}

/**
 * Strict inverse of `formatViewingKeys`; also reads version 1, which has one key. Accepts spaces and invisible characters
 * around the text, because people paste it. No error repeats the text.
 * @throws SottoError INVALID_KEY: malformed, for another pool, or not the keys of their addresses
 */
export function parseViewingKeys(text: string, place: KeyPool): ViewingKeys {
  assertObject(place, "the pool");
  const { chainId, pool } = place;
  const read = fieldsOf(parseJson(text), "a viewing key", CODE);
  return recode(CODE, "not viewing keys", () => {
    const version = read("version");
    if (read("type") !== TYPE || (version !== 1 && version !== 2))
      fail(CODE, "the text is not a viewing key that sotto wrote");
    if (read("chainId") !== String(chainId) || read("pool") !== pool)
      fail(CODE, `the viewing key is for another pool, expected ${pool} on chain ${chainId}`);
    return assertViewingKeys(readKeys(read));
  });
}

/** The months of a set of keys, in order; the lasting address has none. @throws SottoError INVALID_KEY */
export const monthsOfKeys = (keys: ViewingKeys): Month[] =>
  assertViewingKeys(keys).keys.flatMap(({ month }) => (month === undefined ? [] : [month]));

/** The addresses of a set of keys, as `describeMonths` writes them. @throws SottoError INVALID_KEY */
export function describeKeys(keys: ViewingKeys): string {
  const months = monthsOfKeys(keys);
  return describeMonths(months, months.length < keys.keys.length);
}
