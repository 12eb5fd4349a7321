import type { Bytes32 } from "../contexts.ts";
import { bytesToHex, hexToBytes } from "../hex.ts";
import { fieldsOf, parseText } from "../object-fields.ts";

/** The schedule that a resource server follows, as its 402 names it. */
export interface ScheduleReference {
  /** Where the server publishes it: a path of the server's origin, with an optional query, 1 to 256 characters. */
  readonly path: string;
  /** Its `scheduleDigest`. */
  readonly digest: Bytes32;
}

/** The path at which a resource server publishes its schedule by default. */
export const SCHEDULE_PATH = "/.well-known/sotto/addresses";

/** One slash, because two would name another host; no fragment. */
const PATH = /^\/(?![/\\])[!"$-~]{0,255}$/;
const PATH_FORM = "a path that begins with one / and has at most 256 printable ASCII characters, without #";

/**
 * Reads the reference to a schedule in a 402. Ignores unknown fields.
 * @param value JSON from the server
 * @param name the field's name, for messages
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_HEX
 */
export function parseScheduleReference(value: unknown, name = "schedule"): ScheduleReference {
  const field = fieldsOf(value, name, "INVALID_ARGUMENT");
  const path = parseText(field("path"), PATH, `${name}.path`, PATH_FORM);
  return { path, digest: bytesToHex(hexToBytes(field("digest"), 32, `${name}.digest`)) };
}
