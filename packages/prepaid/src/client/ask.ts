import { type ForeignText, foreign } from "@sotto/protocol";
import { type Answer, type AnswerLimits, exchange } from "@sotto/wallet";
import { PrepaidError } from "./errors.ts";

/**
 * Sends a request without cookies or referrer and reads its whole answer. Follows no redirect.
 * @throws PrepaidError PREPAID_UNREACHABLE; the signal's reason
 */
export const ask = (send: typeof fetch, url: string, init: RequestInit, limits: AnswerLimits): Promise<Answer> =>
  exchange(send, url, init, limits, (_, text, cause) => new PrepaidError("PREPAID_UNREACHABLE", text, {}, { cause }));

/** The JSON of an answer; undefined if it is not JSON. */
export function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** The reason of a refusal, for a message: the status is our own word, a code is the server's. */
export function saidIn(answer: Answer): string | ForeignText {
  const reason = reasonOf(answer);
  return reason === String(answer.status) ? reason : foreign(reason);
}

/** The code of an error's body, or its status. */
export function reasonOf(answer: Answer): string {
  const { code } = Object(jsonOf(answer)) as Record<string, unknown>;
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : String(answer.status);
}
