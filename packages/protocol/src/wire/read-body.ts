import { isBytes } from "../bytes.ts";
import { fail } from "../errors.ts";

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** The part of fetch's Response that is used. ECMAScript's types lack it. */
export interface UnreadResponse {
  /** The stream of bytes; null if the response has no body. */
  readonly body: { getReader(): Reader } | null;
}

/** The part of an AbortSignal that is used. */
export interface StopSignal {
  /** Whether it aborted already. */
  readonly aborted: boolean;
  /** The value that `readBody` throws after an abort. */
  readonly reason: unknown;
  /** Calls `listener` when the signal aborts. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Removes a listener. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Size of the first buffer, bytes. */
const INITIAL_BYTES = 4096;

/**
 * Reads the body of a response from an untrusted sender, up to a size limit. At the limit it stops and closes the
 * connection. It ignores content-length, which may be wrong or refer to the compressed body.
 *
 * Copies the chunks into one buffer, so that memory use is at most about twice the limit. Keeping a list of chunks
 * would take a hundred bytes for each chunk of one byte.
 * @param signal aborts the read, even if the response's own fetch ignores it
 * @throws SottoError ANSWER_TOO_LARGE; TypeError if a chunk is not bytes, as in a stream that a program made of texts
 * @throws the signal's reason, or the stream's own error
 */
export async function readBody(
  response: UnreadResponse,
  maxBytes: number,
  signal?: StopSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const { body } = Object(response) as Partial<UnreadResponse>;
  const reader = body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  // Cancelling also ends a read that is waiting for the next chunk.
  const stop = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  let bytes = new Uint8Array(Math.min(INITIAL_BYTES, maxBytes));
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal?.aborted) throw signal.reason;
      if (done || value === undefined) return bytes.slice(0, length);
      if (!isBytes(value)) throw new TypeError("a chunk of the stream is not a Uint8Array");
      const next = length + value.length;
      if (next > maxBytes) fail("ANSWER_TOO_LARGE", `the response has more than ${maxBytes} bytes`, { maxBytes });
      if (next > bytes.length) {
        const larger = new Uint8Array(Math.min(maxBytes, Math.max(next, 2 * bytes.length)));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(value, length);
      length = next;
    }
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
