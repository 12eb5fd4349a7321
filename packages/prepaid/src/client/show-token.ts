import type { PayingCall } from "@sotto/client";
import { foreign, message, quoted } from "@sotto/protocol";
import { PREPAID_HEADER } from "../index.ts";
import type { PrepaidBook } from "./book.ts";
import { PrepaidError } from "./errors.ts";
import type { ShownRecord } from "./records.ts";

/** A token that is durably marked as shown to this request. */
export interface TokenToShow {
  readonly book: PrepaidBook;
  readonly shown: ShownRecord;
  /** Value of the header. */
  readonly header: string;
  /** Whether it was never sent before. */
  readonly fresh: boolean;
  readonly url: URL;
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Maximum retries with the same token: a server returns a token at most twice. */
const MAX_RETRIES = 2;

/**
 * Sends the request with its token. If the server fails (5xx), is unreachable or answers 402 with Retry-After, the
 * client shows the same token again, at most three times in total. Any other 402 is a refusal: nothing more is paid. A
 * redirect is returned as it is.
 * @throws PrepaidError PREPAID_TOKEN_REFUSED, PREPAID_TOKEN_PENDING; the errors of fetch; the signal's reason
 */
export async function showToken(call: PayingCall, token: TokenToShow): Promise<Response> {
  const { book, shown, header, url } = token;
  const payment = { name: PREPAID_HEADER, value: header, url };
  const { response, retries, outcome, ...said } = await call.present(payment, { retries: MAX_RETRIES });
  const reason = quoted(said.reason);
  if (outcome === "refused") throw await book.refused(shown, token.fresh && retries === 0, reason, token.now());
  if (outcome === "pending") {
    const why = reason === "" ? "it gives no reason" : foreign(reason);
    const text = message`the server cannot take the prepaid token yet: ${why}; repeat the same request`;
    throw new PrepaidError("PREPAID_TOKEN_PENDING", text, { reason });
  }
  // Otherwise the next equal request shows the token again.
  if (outcome === "answered") await book.answered(shown);
  return response;
}
