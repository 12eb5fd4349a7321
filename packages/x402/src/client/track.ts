// The fetch that the paying fetch sends with: it sees each payment's target and outcome.
import { createCheckedRequest } from "@sotto/client";
import { X402_SCHEME } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";
import { decodeHeader } from "../header-json.ts";
import { PAYMENT_USED } from "../reasons.ts";
import { nullifierOf, type Payments } from "./payments.ts";
import { originOf, quotedUrl } from "./quoted-url.ts";

const PAYMENT = "payment-signature";
const REQUIRED = "payment-required";
const RESPONSE = "payment-response";
/** Limit of a header in characters, far above the size of any payment or challenge. */
const MAX_HEADER_CHARS = 128 * 1024;

/** Statuses that a proxy sends before the resource server has seen the payment, such as 429. */
const UNSEEN = [408, 421, 425, 429, 431];

type Fetch = typeof fetch;

/** A header's JSON; undefined if it has none. */
function decode(header: string | null): unknown {
  if (header === null || header.length > MAX_HEADER_CHARS) return undefined;
  try {
    return decodeHeader(header);
  } catch {
    return undefined;
  }
}

const field = (value: unknown, name: string): unknown => Object(value)[name];

/**
 * - Never sends a payment along a redirect.
 * - Refuses bodies that the platform would send, or has turned into, text such as "[object FormData]".
 * - Refuses a challenge for a resource at a different origin than the requested one: the payment would be valid there.
 * - Closes a payment after a response that consumes it. After a failure or no response, the next request with the same
 *   terms presents it again.
 */
export function trackFetch(send: Fetch, payments: Payments): Fetch {
  return async (input, init) => {
    const request = await createCheckedRequest(input, init);
    const id = paymentOf(request, payments);
    if (id === undefined) {
      const response = await send(request);
      if (response.status === 402) assertSameOrigin(response, request.url);
      return response;
    }
    payments.track(id);
    try {
      const response = await send(new Request(request, { redirect: "error" }));
      if (isStillUsable(response)) payments.release(id);
      else await payments.close(id);
      return response;
    } catch (error) {
      payments.release(id);
      throw error;
    }
  };
}

/**
 * Whether the payment can be presented again: a server that failed has released it, a busy one may accept it later, and
 * a server that refused it may still have it settled. Only the reason "used" is final.
 */
function isStillUsable({ status, headers }: Response): boolean {
  if (status >= 500 || UNSEEN.includes(status)) return true;
  if (status !== 402) return false;
  const reasons = [field(decode(headers.get(REQUIRED)), "error"), field(decode(headers.get(RESPONSE)), "errorReason")];
  return !reasons.includes(PAYMENT_USED);
}

function paymentOf(request: Request, payments: Payments): string | undefined {
  return payments.idOf(nullifierOf(field(decode(request.headers.get(PAYMENT)), "payload")));
}

/** @throws X402SchemeError X402_RESOURCE_ELSEWHERE */
function assertSameOrigin(response: Response, url: string): void {
  const accepts = field(decode(response.headers.get(REQUIRED)), "accepts");
  // The requested origin, not the target of a redirect: the caller did not intend to pay the target.
  const asked = new URL(url).origin;
  for (const accepted of Array.isArray(accepts) ? accepts : []) {
    const resource = field(field(accepted, "extra"), "resource");
    if (field(accepted, "scheme") !== X402_SCHEME || typeof resource !== "string") continue;
    if (URL.canParse(resource) && new URL(resource).origin === asked) continue;
    throw new X402SchemeError(
      "X402_RESOURCE_ELSEWHERE",
      `${asked} asks for a payment for a resource at another origin: ${originOf(resource)}`,
      { asked, resource: quotedUrl(resource) },
    );
  }
}
