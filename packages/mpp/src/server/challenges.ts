// Issues challenges, and recognizes those that this server issued for the same request. It keeps no state: a challenge's id
// is an HMAC of its other parameters.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Address } from "@sotto/protocol";
import type { PaidAddress, PaywallCore } from "@sotto/resource-server";
import {
  bodyDigest,
  canonicalJson,
  challengeBinding,
  encodeChallenge,
  encodeCharge,
  isCharge,
  MPP_INTENT,
  MPP_METHOD,
  type MppChallenge,
  type MppProblem,
} from "../index.ts";
import type { MppConfig } from "./options.ts";

/** How long a challenge can be answered, ms: a person may have to confirm, and the payment has to settle. */
const LIFETIME_MS = 10 * 60_000;
/**
 * Maximum length of a challenge, characters. A 402 with x402's challenge beside it stays below 4 KiB of headers, and the
 * credential, which repeats the challenge, below 8 KiB.
 */
const MAX_LENGTH = 2_000;
/** Maximum size of a body that challenges are bound to, bytes. It is read before anything is paid. */
export const MAX_BODY_BYTES = 65_536;

/** What a challenge is for. */
export interface Wanted {
  /** The HTTP method of the request. */
  readonly method: string;
  /** The URL to pay for. */
  readonly resource: string;
  /** Base units. */
  readonly price: bigint;
  readonly asset: Address;
  /** Decimals of the token, for display. */
  readonly decimals: number;
  /** Of the request; undefined if it is too large, or if a body parser in front of the paywall has read it. */
  readonly body: Uint8Array | undefined;
}

/** Why a challenge is not accepted. */
export interface ChallengeProblem {
  readonly problem: MppProblem;
  /** For people. */
  readonly detail: string;
}

/** The part of a paywall that challenges name. */
export type Charging = Pick<PaywallCore, "addresses" | "addressAt" | "acceptedAt" | "service" | "clock">;

const idOf = (secret: string, challenge: Omit<MppChallenge, "id">): Buffer =>
  createHmac("sha256", secret).update(challengeBinding(challenge)).digest();

/** A request without a body has no digest, like one whose body cannot be known. */
const digestOf = (body: Uint8Array | undefined): string | undefined =>
  body === undefined || body.length === 0 ? undefined : bodyDigest(body);

/**
 * Binds a challenge to one resource and HTTP method: another one at the same URL may have another price. HEAD is GET
 * without the body.
 */
function opaqueOf({ method, resource }: Pick<Wanted, "method" | "resource">): string {
  const name = method === "HEAD" ? "GET" : method;
  const hash = createHash("sha256").update(`${name} ${resource}`).digest("base64url");
  return Buffer.from(canonicalJson({ resource: hash })).toString("base64url");
}

/** The request whose challenge is longest, apart from the URL. It shows whether the challenges of all requests fit. */
const SAMPLE: Wanted = {
  method: "GET",
  resource: "",
  price: 2n ** 64n - 1n,
  asset: `0x${"f".repeat(40)}`,
  decimals: 18,
  body: new Uint8Array(1),
};

/** The challenges of one paywall. */
export class Challenges {
  readonly #config: MppConfig;
  readonly #paywall: Charging;
  readonly #maxLength: number;

  /** @param maxLength of a challenge that names its URL, characters. Default: what fits into the headers of a 402 */
  constructor(config: MppConfig, paywall: Charging, maxLength = MAX_LENGTH) {
    this.#config = config;
    this.#paywall = paywall;
    this.#maxLength = maxLength;
  }

  /** By how many characters this server's challenges are too long even without the URL; 0 if they fit. */
  get excess(): number {
    const now = this.#paywall.clock();
    const lengths = this.#paywall.addresses.map(
      (address) => encodeChallenge(this.#create(SAMPLE, undefined, address, now)).length,
    );
    return Math.max(0, ...lengths.map((length) => length - this.#maxLength));
  }

  /** A new challenge. It names the URL if there is room; a client that sent the request knows it in any case. */
  issue(wanted: Wanted): MppChallenge {
    const now = this.#paywall.clock();
    return this.#issue(wanted, this.#paywall.addressAt(now), now);
  }

  #issue(wanted: Wanted, address: PaidAddress, now: number): MppChallenge {
    const named = this.#create(wanted, wanted.resource, address, now);
    return encodeChallenge(named).length <= this.#maxLength ? named : this.#create(wanted, undefined, address, now);
  }

  #create(wanted: Wanted, resource: string | undefined, address: PaidAddress, now: number): MppChallenge {
    const { service } = this.#paywall;
    const { binding, signature, schedule } = address;
    const { realm, secrets, header } = this.#config;
    const { price: amount, asset, decimals } = wanted;
    const challenge = {
      realm,
      method: MPP_METHOD,
      intent: MPP_INTENT,
      request: encodeCharge({ amount, asset, decimals, binding, signature, schedule, service, resource }),
      expires: new Date(now + LIFETIME_MS).toISOString().replace(/\.\d+Z$/, "Z"),
      digest: digestOf(wanted.body),
      opaque: opaqueOf(wanted),
      header,
    };
    return { id: idOf(secrets[0]!, challenge).toString("base64url"), ...challenge };
  }

  /** Whether this server issued a challenge for a request that is wanted now. @returns why not; undefined if it did */
  check(challenge: MppChallenge, wanted: Wanted): ChallengeProblem | undefined {
    const invalid = (detail: string): ChallengeProblem => ({ problem: "invalid-challenge", detail });
    // The id does not bind a description, and this server sends none.
    if (challenge.description !== undefined || challenge.header !== this.#config.header || !this.#issued(challenge))
      return invalid("The challenge was not issued by this server, or was changed.");
    const expires = Date.parse(challenge.expires ?? "");
    const now = this.#paywall.clock();
    if (!(expires > now)) return { problem: "payment-expired", detail: "The challenge has expired." };
    // A secret may be shared with servers of other realms, methods and wallets.
    if (challenge.realm !== this.#config.realm || !isCharge(challenge))
      return invalid("The challenge is for another realm or method of payment.");
    if (challenge.opaque !== opaqueOf(wanted)) return invalid("The challenge is for another resource.");
    if (challenge.digest !== digestOf(wanted.body)) return invalid("The challenge is for a request with another body.");
    // The address of the month in which it was issued, of this schedule or an earlier one.
    const addresses = this.#paywall.acceptedAt(expires - LIFETIME_MS);
    if (!addresses.some((address) => this.#issue(wanted, address, now).request === challenge.request))
      return invalid("The price or the recipient has changed since the challenge was issued.");
    return undefined;
  }

  /** Compares with each secret in constant time. */
  #issued(challenge: MppChallenge): boolean {
    const shown = Buffer.from(challenge.id);
    const matches = this.#config.secrets.map((secret) => {
      const expected = Buffer.from(idOf(secret, challenge).toString("base64url"));
      return shown.length === expected.length && timingSafeEqual(shown, expected);
    });
    return matches.includes(true);
  }
}
