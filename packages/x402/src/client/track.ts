// A fetch beneath the paying one: it sees what became of each payment, and where it goes.
import { X402_SCHEME } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";
import { PAYMENT_USED } from "../reasons.ts";
import { nullifierOf, type Payments } from "./payments.ts";

const PAYMENT = "payment-signature";
const REQUIRED = "payment-required";
const RESPONSE = "payment-response";
/** Base64 of what a payment or a challenge takes, many times over. */
const LONGEST_HEADER = 128 * 1024;

/** Timed out, misdirected, too early, too busy, header too large: what a proxy says before a seller has seen the payment. */
const UNSEEN = [408, 421, 425, 429, 431];

type Fetch = typeof fetch;

/** A header's JSON; undefined for what is none. */
function decode(header: string | null): unknown {
  if (header === null || header.length > LONGEST_HEADER) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (c) => c.charCodeAt(0))));
  } catch {
    return undefined;
  }
}

const field = (value: unknown, name: string): unknown => Object(value)[name];

/**
 * - A payment is never sent along a redirect.
 * - A challenge whose resource is at another origin than was asked is refused: the payment would be good there.
 * - A payment that was answered with what was paid for is over; one that got no answer, or a failed one, is shown again
 *   by the next request with the same terms.
 */
export function trackFetch(send: Fetch, payments: Payments): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const id = paymentOf(request, payments);
    if (id === undefined) {
      const response = await send(request);
      if (response.status === 402) expectHere(response, request.url);
      return response;
    }
    payments.track(id);
    try {
      const response = await send(new Request(request, { redirect: "error" }));
      if (mayYetBeTaken(response)) payments.lost(id);
      else await payments.close(id);
      return response;
    } catch (error) {
      payments.lost(id);
      throw error;
    }
  };
}

/**
 * A failed server gave the payment back, a busy one may take it in a moment, and one that refuses it may have it settled
 * all the same: it is shown again until it is too old, unless the seller says that it was used.
 */
function mayYetBeTaken({ status, headers }: Response): boolean {
  if (status >= 500 || UNSEEN.includes(status)) return true;
  if (status !== 402) return false;
  const reasons = [field(decode(headers.get(REQUIRED)), "error"), field(decode(headers.get(RESPONSE)), "errorReason")];
  return !reasons.includes(PAYMENT_USED);
}

function paymentOf(request: Request, payments: Payments): string | undefined {
  return payments.idOf(nullifierOf(field(decode(request.headers.get(PAYMENT)), "payload")));
}

/** @throws X402SchemeError X402_RESOURCE_ELSEWHERE */
function expectHere(response: Response, url: string): void {
  const accepts = field(decode(response.headers.get(REQUIRED)), "accepts");
  // What was asked, and not where a redirect led: whoever the caller meant to pay, it was not that one.
  const asked = new URL(url).origin;
  for (const accepted of Array.isArray(accepts) ? accepts : []) {
    const resource = field(field(accepted, "extra"), "resource");
    if (field(accepted, "scheme") !== X402_SCHEME || typeof resource !== "string") continue;
    if (URL.canParse(resource) && new URL(resource).origin === asked) continue;
    throw new X402SchemeError("X402_RESOURCE_ELSEWHERE", `${asked} asks to be paid for something at another origin`, {
      asked,
    });
  }
}
