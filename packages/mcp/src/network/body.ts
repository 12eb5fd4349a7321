import { isUtf8 } from "node:buffer";

/** A response's body, up to a limit. */
export interface Body {
  readonly bytes: Buffer;
  /** Whether the body was longer, or ended early. */
  readonly truncated: boolean;
}

/** Reads at most `limit` bytes, until `signal` aborts. What arrived before that is returned. */
export async function readPart(response: Response, limit: number, signal: AbortSignal): Promise<Body> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  if (reader === undefined) return { bytes: Buffer.alloc(0), truncated: false };
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  let ended = false;
  try {
    while (length <= limit && !signal.aborted) {
      const { done, value } = await reader.read();
      if (done) {
        ended = !signal.aborted;
        break;
      }
      chunks.push(value);
      length += value.byteLength;
    }
  } catch {
    // The connection broke: what arrived is still worth having, because it is paid for.
  } finally {
    signal.removeEventListener("abort", stop);
    if (!ended) stop();
  }
  const bytes = Buffer.concat(chunks);
  return { bytes: bytes.subarray(0, limit), truncated: !ended || length > limit };
}

const TEXT = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|javascript|yaml|x-ndjson|x-www-form-urlencoded)\b)/i;

/** The body as text, or undefined if it is not text. A character that the limit cut in half is dropped. */
export function asText({ bytes, truncated }: Body, contentType: string): string | undefined {
  if (contentType !== "" && !TEXT.test(contentType)) return undefined;
  for (let cut = 0; cut <= (truncated ? 3 : 0) && cut <= bytes.length; cut += 1) {
    const part = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(part)) return part.toString("utf8");
  }
  return undefined;
}
