// Bytes of every realm. jsdom, iframes and `node:vm` have constructors of their own, so `instanceof` refuses bytes that
// were made there, or those that the platform made.

/** Returns the name of a typed array's class, for an array of any realm; undefined for every other value. */
const classOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)!.get!;
/** Returns the length of an ArrayBuffer of any realm; throws for every other value. */
const lengthOf = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")!.get!;

/** Whether a value is a Uint8Array of any realm. Objects that only claim to be one are not. */
export function isBytes(value: unknown): value is Uint8Array {
  return classOf.call(value) === "Uint8Array";
}

/** Whether a value is an ArrayBuffer of any realm. A SharedArrayBuffer is not. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  try {
    lengthOf.call(value);
    return true;
  } catch {
    return false;
  }
}
