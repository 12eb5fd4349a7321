// Which resource a payment is for, from the payment's own description, which is untrusted. Apart from listing.ts, so that only
// the thread that reads listings loads the code that evaluates schemas.
import { isX402RouteTemplate, X402_BAZAAR, X402_LISTED_METHODS } from "@sotto/protocol/x402";
import type { ListingKey } from "../store/index.ts";
import { checkHostUrl } from "./host.ts";

export type Json = Readonly<Record<string, unknown>>;

/** Why something is not listed. Its message is for the resource server. */
export class NotListed extends Error {
  override readonly name = "NotListed";
}

export const objectOf = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

export const bazaarOf = (extensions: unknown): Json | undefined => objectOf(objectOf(extensions)?.[X402_BAZAAR]);

/**
 * The resource of a settled payment, if its payload has the extension `bazaar`. The URL is the one that the proof
 * binds, not the one in the payload's `resource`. Query and fragment are left out, because they can reveal the payer
 * and the purchase.
 * @param resource `extra.resource` of the payment's requirements
 * @throws NotListed
 */
export function listingKeyOf(extensions: unknown, resource: string, local: boolean): ListingKey | undefined {
  const bazaar = bazaarOf(extensions);
  if (bazaar === undefined) return undefined;
  const url = URL.canParse(resource) ? new URL(resource) : undefined;
  if (url === undefined) throw new NotListed("the resource must be a URL");
  const problem = checkHostUrl(url, local);
  if (problem !== undefined) throw new NotListed(problem);
  const { type, method } = objectOf(objectOf(bazaar["info"])?.["input"]) ?? {};
  const listed = X402_LISTED_METHODS.find((one) => one === method);
  if (type !== "http" || listed === undefined)
    throw new NotListed(`info.input must be of type http, with the method ${X402_LISTED_METHODS.join(" or ")}`);
  const { routeTemplate } = bazaar;
  return { url: url.origin + (isX402RouteTemplate(routeTemplate) ? routeTemplate : url.pathname), method: listed };
}
