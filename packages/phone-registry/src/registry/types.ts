// Requests and results of the registry, used by the HTTP layer and the signature checks.
import type { Address, ShieldedAddressBinding } from "@sotto/protocol";

/** `+` and 5 to 15 digits. The HTTP layer checks that the number can exist. */
export type E164 = string;

/**
 * A client, for limits and the audit log: its networks joined by commas, the smallest first, 1 to 256 characters. Stored only as keyed
 * pseudonyms.
 */
export type ClientId = string;

/** The fields of the struct that a wallet signs. */
export type SignedFields = ShieldedAddressBinding;

/** A number's link with everything that the wallet signed, so that clients can check it. */
export interface Mapping {
  /** The fields that the wallet signed: number, wallet, shielded address, deployment, registry and time. */
  readonly binding: SignedFields;
  /** The wallet's signature over `binding`, hex with 0x. */
  readonly signature: string;
  /** Whether the number was proven. */
  readonly verified: boolean;
  /** Seconds; from then on, the number counts as unknown. */
  readonly expiresAt: number;
}

/** A request to link a number to a wallet. */
export interface LinkRequest {
  readonly phone: E164;
  /** The wallet that signed. */
  readonly wallet: Address;
  /** Shielded address, 64 bytes, hex with 0x. */
  readonly key: string;
  /** The wallet's signature over the ShieldedAddressBinding, hex with 0x. */
  readonly signature: string;
  /** Seconds; by default the slots around the current time are tried. */
  readonly issuedAt?: number | undefined;
  /** The requester, for limits and the audit log. */
  readonly client: ClientId;
}

/** What a link replaced. Only a client that proved the number or has the same wallet gets it. */
export interface MappingChange {
  /** The linked wallet before and after; undefined if it stayed the same. */
  readonly wallet?: { readonly from: Address; readonly to: Address } | undefined;
  /** The shielded address before and after, 64 bytes, hex with 0x; undefined if it stayed the same. */
  readonly key?: { readonly from: string; readonly to: string } | undefined;
}

/** A step that is left until a link is verified. */
export type RemainingStep =
  | {
      /** A code was sent to the number. */
      readonly step: "enter-code";
      /** When the code expires, milliseconds since the Unix epoch. */
      readonly expiresAt: number;
      /** How often a code may be entered before another one is needed. */
      readonly tries: number;
    }
  | {
      /** The code could not be sent; the same request sends another. */
      readonly step: "ask-again";
    };

/** The link, and the steps that remain. */
export interface LinkResult {
  /** The new link. */
  readonly mapping: Mapping;
  /** Empty if the link is verified at once: the wallet was already verified for this number. */
  readonly remaining: readonly RemainingStep[];
  /** Values that a renewal replaced; undefined if none, or if a code is needed first. */
  readonly changed?: MappingChange | undefined;
}

/** A request to prove a number with a code. */
export interface VerifyRequest {
  /** The number that received the code. */
  readonly phone: E164;
  /** The wallet of the link. Without it, the code that the number's owner enters could verify another wallet's link. */
  readonly wallet: Address;
  /** Six digits. */
  readonly code: string;
  /** The requester, for limits and the audit log. */
  readonly client: ClientId;
}

/** The verified link. */
export interface VerifyResult {
  /** The link; `verified` is true. */
  readonly mapping: Mapping;
  /** Values that the number had before; undefined if it was not linked, or if none changed. */
  readonly changed?: MappingChange | undefined;
}

/** A request for the wallet of a number. */
export interface ResolveRequest {
  readonly phone: E164;
  /** The requester, for limits and the audit log. */
  readonly client: ClientId;
  /** The wallet that signed the lookup, if lookups are signed. The HTTP layer has checked it and consumed the nonce. */
  readonly caller?: Address | undefined;
}

/** A request to delete a link. */
export interface UnlinkRequest {
  /** The linked number. */
  readonly phone: E164;
  /** The linked wallet, which signed. */
  readonly wallet: Address;
  /** The wallet's signature over the PhoneUnlink struct, hex with 0x. */
  readonly signature: string;
  /** When the wallet signed, Unix seconds. */
  readonly issuedAt: number;
  /** The requester, for limits and the audit log. */
  readonly client: ClientId;
}

/** A request to delete everything about a number. */
export interface EraseRequest {
  readonly phone: E164;
  /** The requester, stored in the audit log as a keyed pseudonym. */
  readonly client: ClientId;
}

/** Number of deleted rows. */
export interface Erased {
  /** Links. */
  readonly mappings: number;
  /** One-time codes. */
  readonly codes: number;
  /** Counters of quotas. */
  readonly quotas: number;
}

/** The nonce of one signed lookup. */
export interface NonceUse {
  /** The wallet that signed the lookup. Each wallet has its own nonces. */
  readonly wallet: Address;
  /** 1 to 256 characters. */
  readonly nonce: string;
  /** Seconds, at most an hour ahead. The nonce is remembered until then. */
  readonly deadline: number;
}
