// Keeps the header PAYMENT-REQUIRED small. By default nginx reads the headers of a response into a buffer of 4 or 8 KiB, and
// answers 502 if they are larger. The other headers of a paywall's 402 take up to 1,096 bytes.
import { X402_PRIVACY, X402_VERSION } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";
import { decodeHeader } from "../header-json.ts";
import type { Network, PaymentRequirements } from "../types.ts";

/** Maximum length of the header's value, characters of base64. */
export const MAX_REQUIRED_LENGTH = 3_000;
/** What the terms, with the schedule of an address, and a short URL leave for a route's listing, bytes of JSON. */
const MAX_LISTING_BYTES = (MAX_REQUIRED_LENGTH / 4) * 3 - 1_180;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => Object(value) as Fields;
const jsonBytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

function encode(value: unknown): string {
  return btoa(Array.from(jsonBytes(value), (byte) => String.fromCharCode(byte)).join(""));
}

/** Facilitators add this extension by themselves. */
function withoutPrivacy({ extensions, ...rest }: Fields): Fields {
  const { [X402_PRIVACY]: _, ...others } = fieldsOf(extensions);
  return Object.keys(others).length === 0 ? rest : { ...rest, extensions: others };
}

/** `extra.resource` is the URL that is paid for; this one only names the resource. */
function withoutQuery({ resource, ...rest }: Fields): Fields {
  const { url, ...texts } = fieldsOf(resource);
  return { ...rest, resource: { url: String(url).split("?", 1)[0], ...texts } };
}

function withoutListing({ extensions: _, resource, ...rest }: Fields): Fields {
  return { ...rest, resource: { url: fieldsOf(resource)["url"] } };
}

/**
 * Leaves out what clients can do without, until the header fits.
 * @param header the published server's
 * @param room maximum length, characters of base64
 * @returns undefined if it stays too long
 */
export function shortened(header: string, room = MAX_REQUIRED_LENGTH): string | undefined {
  if (header.length <= room) return header;
  let required = fieldsOf(decodeHeader(header));
  for (const shorten of [withoutPrivacy, withoutQuery, withoutListing]) {
    required = shorten(required);
    const short = encode(required);
    if (short.length <= room) return short;
  }
  return undefined;
}

/** Length of a path for which there is room beside what is asked to be shown, characters. */
const MIN_PATH_ROOM = 128;

/**
 * Refuses to ask for more than fits into the header: what is asked for is never left out.
 * @param requirements as the header will have them, but for the resource
 * @throws X402SchemeError X402_OPTION_INVALID
 */
export function assertAskedFits(requirements: PaymentRequirements, origin: string): void {
  const resource = origin + "/".padEnd(MIN_PATH_ROOM, "a");
  const accepted = { ...requirements, extra: { ...requirements.extra, resource } };
  const texts = { x402Version: X402_VERSION, error: "Payment required" };
  const { length } = encode({
    ...texts,
    resource: { url: resource, description: "", mimeType: "" },
    accepts: [accepted],
  });
  if (length <= MAX_REQUIRED_LENGTH) return;
  const asked = jsonBytes(requirements.extra["attachments"]).length;
  const over = Math.ceil(((length - MAX_REQUIRED_LENGTH) / 4) * 3);
  throw new X402SchemeError(
    "X402_OPTION_INVALID",
    `attachments ask for ${asked} bytes of JSON, ${over} more than fit into the headers of a 402 beside the terms and a path of ` +
      `${MIN_PATH_ROOM} characters; ask for less, or for what has shorter URLs`,
  );
}

/** What the schemes of a route ask to be shown takes from its listing, bytes. */
function askedBytes(accepts: unknown, schemeOf: SchemeOf): number {
  const asked = [accepts].flat().map((accepted) => {
    const { network, scheme } = fieldsOf(accepted);
    return fieldsOf(schemeOf(network as Network, scheme as string))["asked"];
  });
  return asked.reduce<number>(
    (bytes, asks) => bytes + (asks === undefined ? 0 : jsonBytes({ attachments: asks }).length),
    0,
  );
}

/** The scheme that is registered for a network, by its name. */
export type SchemeOf = (network: Network, scheme: string) => unknown;

/**
 * Refuses routes whose listing would never be in the header, so that no facilitator could list them.
 * @throws X402SchemeError X402_OPTION_INVALID
 */
export function assertRoutesFit(routes: unknown, schemeOf: SchemeOf): void {
  const single = "accepts" in fieldsOf(routes);
  for (const [name, route] of Object.entries(single ? { "*": routes } : fieldsOf(routes))) {
    const { description, mimeType, serviceName, tags, iconUrl, extensions, accepts } = fieldsOf(route);
    if (extensions === undefined) continue;
    const listing = withoutPrivacy({ resource: { description, mimeType, serviceName, tags, iconUrl }, extensions });
    const { length } = jsonBytes(listing);
    const room = MAX_LISTING_BYTES - askedBytes(accepts, schemeOf);
    if (length > room)
      throw new X402SchemeError(
        "X402_OPTION_INVALID",
        `the listing of the route ${name} takes ${length} bytes without the extension ${X402_PRIVACY}, but at most ` +
          `${room} fit into the headers of a 402 in both formats; shorten its description, examples and schemas`,
      );
  }
}
