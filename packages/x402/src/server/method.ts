// x402 as a method of a paywall: it adds the challenge of the published server to the 402. The published middleware, which
// reads its payments itself, comes before the paywall.
import type { ShieldedAddressBinding } from "@sotto/protocol";
import { X402SchemeError } from "../errors.ts";
import { contextOf, type HttpResourceServer, REQUIRED } from "./formats.ts";
import { MAX_REQUIRED_LENGTH, shortened } from "./required-header.ts";

/** What this package uses of a paywall of @sotto/resource-server. */
export interface X402Paywall {
  /** Public origin of the resource server. */
  readonly origin: string;
  /** Base URL of the service. */
  readonly service: string;
  /** Every address that a 402 may ask for, with the wallet's signature, its phone number and registry. */
  readonly addresses: readonly {
    readonly binding: Pick<ShieldedAddressBinding, "phone" | "service">;
    readonly signature: string;
  }[];
}

/** What this package uses of the terms of a 402. */
export interface X402Terms {
  /** HTTP method of the request. */
  readonly method: string;
  /** The parsed request target. */
  readonly target: { readonly path: string };
  /** The URL that the payment is for. */
  readonly resource: string;
}

/** A payment method of @sotto/resource-server, for its option `methods`. */
export interface X402Method {
  /** Always "x402". */
  readonly name: string;
  /**
   * Called by the paywall once, before its first 402.
   * @throws X402SchemeError X402_OPTION_INVALID if the paywall's challenges would not fit into headers
   */
  open(paywall: X402Paywall): { offer(terms: X402Terms): Promise<X402Offer> };
}

/** What the method adds to a 402. */
export interface X402Offer {
  /** The headers of the challenge, of at most this many bytes. */
  headers(bytes: number): Record<string, string>;
}

/**
 * Maximum length of what the challenge repeats in a header: with it and a URL of some 400 characters, the headers of a 402
 * stay below 4 KiB.
 */
const MAX_REPEATED_CHARACTERS = 1_000;

/** The challenge is in a header, which proxies limit; sotto's own is in the body. */
function assertFitsHeader({ addresses, service, origin }: X402Paywall): void {
  const [{ signature, binding }] = [...addresses].sort((a, b) => b.signature.length - a.signature.length) as [
    X402Paywall["addresses"][number],
  ];
  const parts = {
    ...{ "recipient.signature": signature, "recipient.service": binding.service, "recipient.phone": binding.phone },
    ...{ service, origin },
  };
  const lengths = Object.entries(parts).map(([name, text]) => [name, text.length] as const);
  const characters = lengths.reduce((sum, [, length]) => sum + length, 0);
  if (characters > MAX_REPEATED_CHARACTERS)
    throw new X402SchemeError(
      "X402_OPTION_INVALID",
      `with x402, ${lengths.map(([name, length]) => `${name} (${length})`).join(", ")} may have at most ` +
        `${MAX_REPEATED_CHARACTERS} characters together, because headers of a 402 repeat them; a wallet contract that is ` +
        "deployed has a shorter signature than one that is not",
    );
}

/**
 * The method that adds the published server's challenge for the same request to a paywall's 402. If it has more than 3,000
 * characters, or more than the headers of other methods leave, it leaves out what clients can do without: the extension
 * `privacy`, the query of `resource.url`, then the listing. A challenge that is still too long is left out, because default
 * proxies answer 502 to a response with more than 4 KiB of headers; the body contains sotto's own terms in any case.
 * @param http returns the server, which may be created after the paywall whose `uses` it needs
 */
export function x402Method(http: () => HttpResourceServer): X402Method {
  return {
    name: "x402",
    open: (paywall) => {
      assertFitsHeader(paywall);
      return { offer: (terms) => offerOf(http(), terms) };
    },
  };
}

/** The headers beside the challenge. */
const BESIDE = { vary: "PAYMENT-SIGNATURE", "access-control-expose-headers": "PAYMENT-REQUIRED, PAYMENT-RESPONSE" };
/** Bytes of all names, of the separators, and of the values beside the challenge. */
const BYTES_BESIDE = Object.entries({ ...BESIDE, [REQUIRED]: "" }).reduce(
  (bytes, [name, value]) => bytes + name.length + value.length + ": \r\n".length,
  0,
);

async function offerOf(http: HttpResourceServer, terms: X402Terms): Promise<X402Offer> {
  const { method, target, resource } = terms;
  const { response } = await http.processHTTPRequest(contextOf(method, target.path, resource));
  const [, header] = Object.entries(response?.headers ?? {}).find(([name]) => name.toLowerCase() === REQUIRED) ?? [];
  return {
    headers: (bytes) => {
      const room = Math.min(MAX_REQUIRED_LENGTH, bytes - BYTES_BESIDE);
      const short = header === undefined ? undefined : shortened(header, room);
      return short === undefined ? {} : { "PAYMENT-REQUIRED": short, ...BESIDE };
    },
  };
}
