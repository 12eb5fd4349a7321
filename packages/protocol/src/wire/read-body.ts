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
 * Reads the body of a response from an untrusted sender, up to a size limit. At the limit it stops and closes the
 * connection. It ignores content-length, which may be false or the length of the compressed body.
 *
 * Chunks are copied, so that it holds at most twice the limit in memory: kept as they are, chunks of one byte would cost a
 * hundred bytes each.
 *
 * @param signal aborts the read, even if the response's own fetch ignores it
 * @throws SottoError ANSWER_TOO_LARGE; the signal's reason; the stream's own error
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
