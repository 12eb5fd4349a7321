import { delay } from "@sotto/chain";
import { PREPAID_HEADER } from "@sotto/prepaid";
import { foreign, message, quoted } from "@sotto/protocol";
import type { PrepaidBook } from "../prepaid/book.ts";
import { PrepaidError } from "../prepaid/errors.ts";
import type { ShownRecord } from "../prepaid/records.ts";
import type { Call } from "./call.ts";
import { attempt, isPassing, mayNotHaveSeen, pauseBefore, reasonOf } from "./show.ts";

/** A token that is durably marked as shown to this request. */
export interface TokenToShow {
  readonly book: PrepaidBook;
  readonly shown: ShownRecord;
  /** Value of the header. */
  readonly header: string;
  /** Whether it was never sent before. */
  readonly fresh: boolean;
  readonly url: URL;
  /** Milliseconds before the first retry, doubled for each further one. */
  readonly retryDelayMs: number | undefined;
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Maximum retries with the same token: a server returns a token at most twice. */
const MAX_RETRIES = 2;

/**
 * Sends the request with its token. If the server fails (5xx), is unreachable or answers 402 with Retry-After, the
 * client shows the same token again, at most three times in total. Any other 402 is a refusal: nothing more is paid. A
 * redirect is returned as it is.
 *
 * @throws PrepaidError PREPAID_TOKEN_REFUSED, PREPAID_TOKEN_PENDING; the errors of fetch; the signal's reason
 */
export async function showToken(call: Call, token: TokenToShow): Promise<Response> {
  const { book, shown, header, url } = token;
  for (let retry = 0; ; retry += 1) {
    const { response, error } = await attempt(call, { name: PREPAID_HEADER, value: header, url });
    if ((response === undefined || isPassing(response)) && retry < MAX_RETRIES) {
      await response?.body?.cancel().catch(() => undefined);
      await delay(pauseBefore(retry, response, token.retryDelayMs), call.signal);
      continue;
    }
    if (response === undefined) throw error;
    if (response.status === 402) {
      const passing = isPassing(response);
      const reason = quoted(await reasonOf(response));
      if (!passing) throw await book.refused(shown, token.fresh && retry === 0, reason, token.now());
      const said = reason === "" ? "it gives no reason" : foreign(reason);
      const text = message`the server cannot take the prepaid token yet: ${said}; repeat the same request`;
      throw new PrepaidError("PREPAID_TOKEN_PENDING", text, { reason });
    }
    // The next equal request shows the token again.
    if (!mayNotHaveSeen(response)) await book.answered(shown);
    return response;
  }
}
