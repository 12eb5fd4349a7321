// What the registry is asked and what it answers. The HTTP layer and the signature checks are built on these types.
import type { Address, ShieldedAddressBinding } from "@sotto/protocol";

/** `+` and 5 to 15 digits. That it is a real number is checked before it gets here. */
export type E164 = string;

/**
 * Who asks, for limits and the audit log: 1 to 256 characters, its networks joined by commas, the smallest first. Kept
 * only as keyed pseudonyms.
 */
export type ClientId = string;

/** The fields of the struct a wallet signs. */
export type SignedFields = ShieldedAddressBinding;

/** A number's link as it is answered: everything the wallet signed, so that a client can check it. */
export interface Mapping {
  readonly binding: SignedFields;
  /** Of the wallet over `binding`, hex with 0x. */
  readonly signature: string;
  /** Whether the number was proven. */
  readonly verified: boolean;
  /** Seconds: from then on the number is unknown. */
  readonly expiresAt: number;
}

export interface LinkRequest {
  readonly phone: E164;
  readonly wallet: Address;
  readonly key: string;
  readonly signature: string;
  /** Seconds; where it is left out the slots around now are tried. */
  readonly issuedAt?: number | undefined;
  readonly client: ClientId;
}

/** What changed where a link replaced a verified one. Told only to who proved the number, or holds the same wallet. */
export interface MappingChange {
  readonly wallet?: { readonly from: Address; readonly to: Address } | undefined;
  readonly key?: { readonly from: string; readonly to: string } | undefined;
}

/** enter-code: a code is on its way. ask-again: it could not be sent; the same request sends another. */
export type RemainingStep =
  | { readonly step: "enter-code" /** ms */; readonly expiresAt: number; readonly tries: number }
  | { readonly step: "ask-again" };

export interface LinkResult {
  readonly mapping: Mapping;
  /** Empty where the link is in force: the same wallet, verified for this number before, signed anew. */
  readonly remaining: readonly RemainingStep[];
  readonly changed?: MappingChange | undefined;
}

export interface VerifyRequest {
  readonly phone: E164;
  /**
   * Whose link it is about. Without it, somebody else's link of the same number could get the code that its owner types
   * in for its own.
   */
  readonly wallet: Address;
  /** Six digits. */
  readonly code: string;
  readonly client: ClientId;
}

export interface VerifyResult {
  readonly mapping: Mapping;
  readonly changed?: MappingChange | undefined;
}

export interface ResolveRequest {
  readonly phone: E164;
  readonly client: ClientId;
  /** In the signed-in mode: the wallet that signed the request (checked by the HTTP layer, nonce used up). */
  readonly caller?: Address | undefined;
}

export interface UnlinkRequest {
  readonly phone: E164;
  readonly wallet: Address;
  /** Over the unlink struct. */
  readonly signature: string;
  /** Seconds. */
  readonly issuedAt: number;
  readonly client: ClientId;
}

export interface EraseRequest {
  readonly phone: E164;
  /** Who asked for it: kept in the audit log as a keyed pseudonym. */
  readonly client: ClientId;
}

/** How many rows of each kind are gone. */
export interface Erased {
  readonly mappings: number;
  readonly codes: number;
  readonly quotas: number;
}

/** The nonce of one signed lookup. */
export interface NonceUse {
  readonly wallet: Address;
  /** 1 to 256 characters. */
  readonly nonce: string;
  /** Seconds: until then it is remembered, at most an hour ahead. */
  readonly deadline: number;
}
