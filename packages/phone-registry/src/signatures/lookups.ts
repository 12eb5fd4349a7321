import {
  type Address,
  LOOKUP_LIFETIME_SECONDS,
  lookupDigest,
  normalizeSignature,
  parseAddress,
  verifyWalletSignature,
} from "@sotto/protocol";
import { PhoneError, RegistryError } from "../errors.ts";
import type { PhoneRegistry } from "../registry/phone-registry.ts";
import type { SigningDomain } from "./checks.ts";
import type { ContractChecks } from "./contract-checks.ts";

/** Headers of a signed lookup. */
export const LOOKUP_HEADERS = ["x-sotto-wallet", "x-sotto-nonce", "x-sotto-deadline", "x-sotto-signature"] as const;
export type LookupHeaders = { readonly [name in (typeof LOOKUP_HEADERS)[number]]?: string | undefined };

/** @returns the wallet that signed the lookup */
export type AssertLookup = (phone: string, headers: LookupHeaders, client: string) => Promise<Address>;

export interface LookupOptions {
  readonly domain: Omit<SigningDomain, "pool">;
  readonly contracts: ContractChecks;
  readonly registry: Pick<PhoneRegistry, "useNonce">;
  readonly clock: () => number;
}

/**
 * Checks signed lookups: each has a wallet's signature over the number, a nonce and a deadline, for this registry. An intercepted
 * signature is useless, because the nonce is consumed and the number is fixed.
 * @throws PhoneError LOOKUP_SIGNATURE_REQUIRED; RegistryError SIGNATURE_INVALID, NONCE_REFUSED; SottoError BINDING_INVALID
 */
export function createAssertLookup({ domain, contracts, registry, clock }: LookupOptions): AssertLookup {
  const { chainId, service } = domain;
  return async (phone, headers, client) => {
    const { "x-sotto-wallet": by, "x-sotto-nonce": nonce, "x-sotto-deadline": until } = headers;
    const given = headers["x-sotto-signature"];
    if (by === undefined || nonce === undefined || until === undefined || given === undefined)
      throw new PhoneError(
        "LOOKUP_SIGNATURE_REQUIRED",
        "this registry requires signed lookups: send x-sotto-wallet, x-sotto-nonce, x-sotto-deadline and x-sotto-signature over PhoneLookup",
      );
    const wallet = parseAddress(by, "x-sotto-wallet");
    const deadline = /^[1-9][0-9]{0,11}$/.test(until) ? Number(until) : 0;
    const seconds = clock() / 1000;
    // The deadline is checked before the signature, so that old requests cost nothing.
    if (deadline < seconds || deadline > seconds + LOOKUP_LIFETIME_SECONDS)
      throw new RegistryError(
        "NONCE_REFUSED",
        `the deadline has passed, or is more than ${LOOKUP_LIFETIME_SECONDS} s ahead`,
      );
    const digest = lookupDigest({ phone, wallet, chainId, service, nonce, deadline });
    const signature = normalizeSignature(given);
    const signed = await contracts.run(client, (call) => verifyWalletSignature(wallet, digest, signature, call));
    if (!signed)
      throw new RegistryError(
        "SIGNATURE_INVALID",
        `the signature is not x-sotto-wallet's over the EIP-712 struct PhoneLookup with this number, nonce and deadline, chainId ${chainId} and service ${service}; see "GET /phone/resolve/:phone" in docs/api.md`,
      );
    await registry.useNonce({ wallet, nonce, deadline });
    return wallet;
  };
}
