// Reads a resource's 402 response, as clients do.
import {
  ANONYMOUS,
  invisibleCharacter,
  type Offers,
  type PaymentInstructions,
  parseInstructions,
  parseOffers,
  readBody,
  SottoError,
  trimPasted,
} from "@sotto/protocol";
import { WebError } from "../errors.ts";
import { unreadable } from "../lib/unreadable.ts";

const MAX_CHALLENGE_BYTES = 64 * 1024;
const CHALLENGE_MS = 30_000;
const MAX_URL_CHARACTERS = 2048;

/** @throws WebError NOT_PAYABLE */
export function urlOf(typed: string): URL {
  const text = trimPasted(typed);
  const invisible = invisibleCharacter(text);
  // A URL parser would encode or drop it, and another page would be requested.
  if (invisible !== undefined)
    throw new WebError("NOT_PAYABLE", `the address contains ${invisible}: remove it, or type the address`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const usable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "";
  if (usable && text.length <= MAX_URL_CHARACTERS) return url;
  throw new WebError("NOT_PAYABLE", "this is not an http or https address");
}

/** @throws WebError PAGE_UNREACHABLE, PAGE_BLOCKED */
export async function request(url: URL): Promise<Response> {
  return fetch(url, ANONYMOUS).catch(async (cause: unknown) => {
    throw await unreadable(url, cause);
  });
}

/** @throws WebError NOT_PAYABLE */
export async function instructionsOf(response: Response): Promise<PaymentInstructions & { offers: Offers }> {
  try {
    const bytes = await readBody(response, MAX_CHALLENGE_BYTES, AbortSignal.timeout(CHALLENGE_MS));
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return { ...parseInstructions(body), offers: parseOffers(body) };
  } catch (cause) {
    const why = cause instanceof SottoError ? cause.message : "its response is not a sotto response";
    const message = `the server asks for a payment that this wallet cannot make: ${why}`;
    throw new WebError("NOT_PAYABLE", message, {}, { cause });
  }
}

/**
 * Checks that a 402 is for the URL that sent it: a server must not pass its own terms off as those of another host.
 * @throws WebError NOT_PAYABLE
 */
export function assertResource({ metadata }: Pick<PaymentInstructions, "metadata">, { url }: Response): void {
  const { resource } = metadata;
  const sent = new URL(url);
  sent.hash = "";
  const named = URL.canParse(resource) ? new URL(resource) : undefined;
  if (named?.href === sent.href && !resource.includes("#")) return;
  const what = named === undefined || named.host === sent.host ? "another address" : `an address of ${named.host}`;
  throw new WebError("NOT_PAYABLE", `${sent.host} asks for a payment for ${what}; open the merchant's own address`);
}

/**
 * A fetch for a payment: a 402 must name the wallet that the user agreed to pay. The server may respond to this request
 * with other terms than to the first one, whose terms the user saw.
 * @throws WebError TERMS_CHANGED, NOT_PAYABLE
 */
export function fetchForMerchant(merchant: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    // A 402 response to a request with a proof refuses the proof and contains no terms.
    if (response.status !== 402 || new Headers(init?.headers).has("x-payment-proof")) return response;
    const { payment } = await instructionsOf(response.clone());
    const { wallet } = payment.recipient;
    if (wallet === merchant) return response;
    throw new WebError("TERMS_CHANGED", `the merchant asks to be paid under ${wallet} now; nothing was paid`, {
      known: merchant,
      offered: wallet,
    });
  };
}
