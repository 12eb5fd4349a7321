// Bytes of another realm, such as those of jsdom or an iframe, whose constructors are not this realm's.
import { runInNewContext } from "node:vm";

/** The same bytes, made in another realm. */
export const foreign = (bytes: Uint8Array): Uint8Array =>
  runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] });

/** Values that are not bytes, although some of them claim to be, or have the same methods. */
export const NOT_BYTES: readonly unknown[] = [
  undefined,
  null,
  "0x00",
  7,
  [1, 2],
  new Uint16Array(32),
  new Int8Array(32),
  new DataView(new ArrayBuffer(32)),
  new ArrayBuffer(32),
  Object.create(Uint8Array.prototype),
  new Proxy(new Uint8Array(32), {}),
  { [Symbol.toStringTag]: "Uint8Array", length: 32, constructor: Uint8Array },
  runInNewContext("({ [Symbol.toStringTag]: 'Uint8Array', length: 32, constructor: Uint8Array })"),
  runInNewContext("new Uint16Array(32)"),
];
