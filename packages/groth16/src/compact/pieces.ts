/** Reads a file in the order of its bytes while it arrives. */
import { invalidCompactKey } from "./format.ts";
import { join } from "./join.ts";

export class PieceReader {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #piece: Uint8Array = new Uint8Array(0);
  #read = 0;

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** Bytes read so far. */
  get offset(): number {
    return this.#read;
  }

  /**
   * The next bytes. It takes no more memory than has arrived.
   * @throws Groth16Error COMPACT_KEY_INVALID if the file has fewer
   */
  async take(count: number): Promise<Uint8Array> {
    if (count <= this.#piece.byteLength) return this.#shift(count);
    const parts: Uint8Array[] = [];
    for (let missing = count; missing > 0; ) {
      if (this.#piece.byteLength === 0 && !(await this.#next())) throw invalidCompactKey("it is cut off");
      const part = this.#shift(Math.min(missing, this.#piece.byteLength));
      parts.push(part);
      missing -= part.byteLength;
    }
    return join(parts);
  }

  async isAtEnd(): Promise<boolean> {
    return this.#piece.byteLength === 0 && !(await this.#next());
  }

  /** Stops the download, if there is more. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  #shift(count: number): Uint8Array {
    const bytes = this.#piece.subarray(0, count);
    this.#piece = this.#piece.subarray(count);
    this.#read += count;
    return bytes;
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#pieces.next();
      if (done === true) return false;
      this.#piece = plainView(value);
      if (value.byteLength > 0) return true;
    }
  }
}

/** The same bytes: `slice` of Node's Buffer does not copy, unlike that of other arrays. */
export const plainView = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
