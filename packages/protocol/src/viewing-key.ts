// The file of a viewing key, which an owner gives to people and programs that read its incoming payments.
import { BASE8, multiplyPoint } from "./curve/babyjub.ts";
import { fail, ProtocolError } from "./errors.ts";
import { assertViewingKey } from "./keys.ts";
import { fieldsOf } from "./object-fields.ts";
import { trimPasted } from "./pasted.ts";
import type { Viewer } from "./scan/scanner.ts";
import { decodeShieldedAddress } from "./shielded-address.ts";
import { assertObject } from "./validate.ts";

/** A key that shows everything an address receives in one pool, and cannot spend it. */
export interface ViewingKey {
  /** Odd, in [1, l). */
  readonly viewingKey: bigint;
  /** The address whose payments the key decrypts. */
  readonly shieldedAddress: string;
}

/** The pool that a viewing key belongs to. */
interface KeyPool {
  readonly chainId: bigint | number;
  /** Lower-case hex with 0x. */
  readonly pool: string;
}

const TYPE = "sotto-viewing-key";
/** Maximum length of the text, characters. */
const MAX_LENGTH = 4096;

/** The JSON of a viewing key, for a file. It is a secret: it shows every incoming payment of the address. */
export function formatViewingKey(key: ViewingKey, place: KeyPool): string {
  assertObject(key, "the viewing key");
  assertObject(place, "the pool");
  const { viewingKey, shieldedAddress } = key;
  const { chainId, pool } = place;
  const hex = `0x${assertViewingKey(viewingKey).toString(16).padStart(64, "0")}`;
  const fields = { viewingKey: hex, shieldedAddress, chainId: String(chainId), pool };
  return JSON.stringify({ type: TYPE, version: 1, ...fields });
}

/**
 * Strict inverse of `formatViewingKey`. Accepts spaces and invisible characters around the text, because people paste
 * it. No error repeats the text.
 * @throws SottoError INVALID_KEY: malformed, for another pool, or not the key of its address
 */
export function parseViewingKey(text: string, place: KeyPool): ViewingKey {
  assertObject(place, "the pool");
  const { chainId, pool } = place;
  const read = fieldsOf(parseJson(text), "a viewing key", "INVALID_KEY");
  const [viewingKey, shieldedAddress] = [read("viewingKey"), read("shieldedAddress")];
  if (read("type") !== TYPE || read("version") !== 1 || typeof shieldedAddress !== "string")
    fail("INVALID_KEY", "the text is not a viewing key that sotto exported");
  if (typeof viewingKey !== "string" || !/^0x[0-9a-f]{64}$/.test(viewingKey))
    fail("INVALID_KEY", "viewingKey must be 0x and 64 hexadecimal digits");
  if (read("chainId") !== String(chainId) || read("pool") !== pool)
    fail("INVALID_KEY", `the viewing key is for another pool, expected ${pool} on chain ${chainId}`);
  const key = { viewingKey: BigInt(viewingKey), shieldedAddress };
  viewerOf(key);
  return key;
}

function parseJson(text: string): unknown {
  if (typeof text !== "string" || text.length > MAX_LENGTH)
    fail("INVALID_KEY", `a viewing key must be a text of at most ${MAX_LENGTH} characters`);
  try {
    return JSON.parse(trimPasted(text));
  } catch {
    // The cause would repeat a part of the text.
    fail("INVALID_KEY", "the text is not a viewing key that sotto exported");
  }
}

/**
 * The viewer of a viewing key, for a scan. Checks that the key belongs to its address: another key would find nothing,
 * without an error.
 * @throws SottoError INVALID_KEY
 */
export function viewerOf(key: ViewingKey): Viewer {
  assertObject(key, "the viewing key");
  const { viewingKey, shieldedAddress } = key;
  let address: ReturnType<typeof decodeShieldedAddress>;
  try {
    address = decodeShieldedAddress(shieldedAddress);
  } catch (cause) {
    throw new ProtocolError("INVALID_KEY", "the shielded address of the viewing key is malformed", {}, { cause });
  }
  const { x, y } = multiplyPoint(BASE8, assertViewingKey(viewingKey));
  const { encryptionKey, ownerTag } = address;
  if (x !== encryptionKey.x || y !== encryptionKey.y)
    fail("INVALID_KEY", "the viewing key does not belong to its shielded address");
  return { viewingKey, ownerTag };
}
