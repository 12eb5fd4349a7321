/** Numbers below 2^35 in groups of seven bits, the lowest first; the highest bit of a byte says that another follows. */
import { invalidCompactKey } from "./format.ts";

/** Bytes of the largest number. */
const MAX_BYTES = 5;

export class NumberWriter {
  readonly #bytes: number[] = [];

  /** @param value from 0 to 2^35 - 1 */
  write(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) | 128);
    this.#bytes.push(rest);
  }

  /** @param value from -2^34 to 2^34 - 1 */
  writeSigned(value: number): void {
    this.write(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

export class NumberReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @throws Groth16Error COMPACT_KEY_INVALID */
  read(): number {
    let value = 0;
    for (let [scale, count] = [1, 0]; count < MAX_BYTES; count++, scale *= 128) {
      const byte = this.#bytes[this.#offset++];
      if (byte === undefined) throw invalidCompactKey("its coefficients are cut off");
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw invalidCompactKey("a number of its coefficients is too large");
  }

  /** @throws Groth16Error COMPACT_KEY_INVALID */
  readSigned(): number {
    const value = this.read();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#bytes.byteLength;
  }
}
