import { fail } from "../errors.ts";

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** The part of fetch's Response that is read. No library of the language declares it. */
export interface UnreadAnswer {
  readonly body: { getReader(): Reader } | null;
}

/** The part of an AbortSignal that is looked at. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

const FIRST_ROOM = 4096;

/**
 * The body of an answer of somebody who may send without end: what is beyond `most` bytes is neither read nor kept, and
 * the connection is given up. A content-length is not looked at: it is a claim, and may be of the compressed body.
 *
 * Twice `most` bytes are held at the very most, in however many pieces they come: kept as they are, a piece of one byte
 * would cost a hundred.
 *
 * @param signal of the time there is; it ends the reading whatever the answer's own fetch does with it
 * @throws SottoError ANSWER_TOO_LARGE; the signal's reason; what the stream breaks off with
 */
export async function readBody(
  answer: UnreadAnswer,
  most: number,
  signal?: StopSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const { body } = Object(answer) as Partial<UnreadAnswer>;
  const reader = body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  // A reading that waits for its next piece ends with it.
  const stop = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  let bytes = new Uint8Array(Math.min(FIRST_ROOM, most));
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (signal?.aborted) throw signal.reason;
      if (done || value === undefined) return bytes.slice(0, length);
      const next = length + value.length;
      if (next > most) fail("ANSWER_TOO_LARGE", `the answer has more than ${most} bytes`, { most });
      if (next > bytes.length) {
        const larger = new Uint8Array(Math.min(most, Math.max(next, 2 * bytes.length)));
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
