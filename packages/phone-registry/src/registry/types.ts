// What the registry takes and answers. The HTTP layer and the signature checks are built on these types.
import type { Address, ShieldedAddressBinding } from "@sotto/protocol";

/** `+` and 5 to 15 digits. That it is a real number is checked before it gets here. */
export type E164 = string;

/**
 * Who asks, for limits and the audit log (its network address, say): 1 to 256 characters. Kept only as a keyed
 * pseudonym.
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
  readonly issuedAt?: number;
  readonly client: ClientId;
}

/** What changed where a link replaced a verified one. Told only to who proved the number, or holds the same wallet. */
export interface MappingChange {
  readonly wallet?: { readonly from: Address; readonly to: Address };
  readonly key?: { readonly from: string; readonly to: string };
}

/** enter-code: a code is on its way. ask-again: it could not be sent; the same request sends another. */
export type RemainingStep =
  | { readonly step: "enter-code" /** ms */; readonly expiresAt: number; readonly tries: number }
  | { readonly step: "ask-again" };

export interface LinkResult {
  readonly mapping: Mapping;
  /** Empty where the link is in force: the same wallet, verified for this number before, signed anew. */
  readonly remaining: readonly RemainingStep[];
  readonly changed?: MappingChange;
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
  readonly changed?: MappingChange;
}

export interface ResolveRequest {
  readonly phone: E164;
  readonly client: ClientId;
  /** In the signed-in mode: the wallet that signed the request (checked by the HTTP layer, nonce used up). */
  readonly caller?: Address;
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

/**
 * Checks what wallets sign. Both throw a SottoError where the signature is not the wallet's or the time is out of the
 * window; both answer the EIP-712 digest of the struct, by which replays are told.
 */
export interface SignatureChecks {
  /** Tries the slots around `now` where the request names no issuedAt. */
  link(request: LinkRequest, now: number): Promise<{ readonly issuedAt: number; readonly digest: string }>;
  unlink(request: UnlinkRequest, now: number): Promise<{ readonly digest: string }>;
}

/** Brings a code to its number. Rejects where it could not. Must not log the code or the number. */
export interface CodeSender {
  send(message: CodeMessage): Promise<void>;
}

export interface CodeMessage {
  readonly phone: E164;
  readonly code: string;
  /** To be named in the text, so that nobody types in a code that somebody else's wallet asked for. */
  readonly wallet: Address;
  /** ms */
  readonly expiresAt: number;
}

/** A key of 32 random bytes. Its id is stored beside what was made with it: 1 to 16 of a-z, 0-9 and -. */
export interface RegistryKey {
  readonly id: string;
  readonly key: Uint8Array;
}

/** First is current; the others still open what was written under them. 1 to 4 of each kind. */
export interface RegistryKeys {
  /** Wrap the data keys of the records. */
  readonly master: readonly RegistryKey[];
  /** Make the blind indexes, pseudonyms and hashes of codes. */
  readonly index: readonly RegistryKey[];
}

/** At most `limit` uses in each window of `seconds`. */
export interface Rate {
  readonly limit: number;
  readonly seconds: number;
}

export interface RegistryLimits {
  /** Codes sent: for a number, for a wallet, for who asks. */
  readonly codes: {
    readonly number: readonly Rate[];
    readonly wallet: readonly Rate[];
    readonly client: readonly Rate[];
  };
  /** Codes typed in, links renewed and taken back, by who does. */
  readonly tries: { readonly client: readonly Rate[] };
  /** Lookups: by who asks, by signed-in wallet, and of a range of numbers by everybody together and by each client. */
  readonly lookups: {
    readonly client: readonly Rate[];
    readonly caller: readonly Rate[];
    readonly range: readonly Rate[];
    readonly clientRange: readonly Rate[];
  };
  /** Numbers that differ in their last so many digits only are one range, 1 to 6. */
  readonly rangeDigits: number;
  /** How long a link waits for its proof, s. */
  readonly pendingSeconds: number;
  /** How long the audit log is kept, s. */
  readonly auditSeconds: number;
}

export type RegistryOperation =
  | "link"
  | "verify"
  | "resolve"
  | "unlink"
  | "erase"
  | "rotate"
  | "sweep"
  | "nonce"
  | "check";

/** Told what happens, never to whom. */
export interface RegistryMetrics {
  /** @param outcome ok, unknown, unverified, or an error's code */
  count(operation: RegistryOperation, outcome: string): void;
  /** How much of a lookup quota somebody has used, 0 to 1: the gauge shows the highest of the last minutes. */
  quotaUse(scope: "client" | "caller" | "range" | "clientRange", used: number): void;
  /** Share of unknown numbers among the latest lookups, 0 to 1: high where somebody tries numbers. */
  unknownShare(share: number, lookups: number): void;
}

/** The part of a pino logger the registry uses. */
export interface RegistryLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface RegistryOptions {
  /** `sqlite:PATH`, `sqlite::memory:` or `postgres://..`. */
  readonly store: string;
  readonly keys: RegistryKeys;
  readonly chainId: bigint;
  readonly pool: Address;
  /** Public base address of this registry, part of what wallets sign. */
  readonly service: string;
  readonly signatures: SignatureChecks;
  readonly sender: CodeSender;
  /** What resolving a number answers that nobody has proven: the link with `verified: false`, or nothing. */
  readonly unverified?: "show" | "hide";
  /** What is left out is as in DEFAULT_LIMITS. */
  readonly limits?: Partial<RegistryLimits>;
  /** Now in ms. */
  readonly clock?: () => number;
  readonly log?: RegistryLog;
  readonly metrics?: RegistryMetrics;
  /** Called for each unit of work (a query, an HMAC, a decryption): for tests that count it. */
  readonly onWork?: (kind: "query" | "hmac" | "decrypt" | "encrypt") => void;
}

export interface RotationState {
  /** Records still wrapped by an older master key. */
  readonly master: number;
  /** Records still indexed by an older index key. */
  readonly index: number;
  /** Short-lived rows (codes, used signatures, nonces, quotas) made with an older index key: they expire within 25 h. */
  readonly fading: number;
  /** Older keys that nothing rests on any more, as master:ID or index:ID: they may leave the ring. */
  readonly unused: readonly string[];
  /** Records that could not be opened and stay as they are: tampered with, or under a key that is not in the ring. */
  readonly refused: number;
}

export interface RotateOptions {
  /** Records of one transaction, 100 if left out. */
  readonly batch?: number;
  readonly signal?: AbortSignal;
}

export interface CheckOptions {
  /** Takes what is there for right from now on: after a tampered database was looked into and damaged links erased. */
  readonly accept?: boolean;
}

export interface CheckResult {
  readonly links: number;
  /**
   * How often links were changed. It only ever grows: a smaller number than was seen before says that the whole database
   * was put back to an older state.
   */
  readonly changes: number;
}

export interface PhoneRegistry {
  readonly kind: "sqlite" | "postgres";
  /**
   * Links a number to a wallet, unverified until the number is proven.
   * @throws RegistryError INVALID_REQUEST, SIGNATURE_INVALID (or what the checks throw), SIGNATURE_REPLAYED,
   *   LINK_OUTDATED, CODES_LIMITED
   */
  link(request: LinkRequest): Promise<LinkResult>;
  /** @throws RegistryError INVALID_REQUEST, CODE_WRONG, CODE_EXPIRED, CODE_EXHAUSTED, CODES_LIMITED, LINK_OUTDATED */
  verify(request: VerifyRequest): Promise<VerifyResult>;
  /**
   * The same work for a number that is known and one that is not.
   * @throws RegistryError INVALID_REQUEST, LOOKUPS_LIMITED, RECORD_TAMPERED
   */
  resolve(request: ResolveRequest): Promise<Mapping | undefined>;
  /**
   * @throws RegistryError INVALID_REQUEST, SIGNATURE_INVALID (or what the checks throw), SIGNATURE_REPLAYED, NOT_LINKED,
   *   LINK_OUTDATED, CODES_LIMITED
   */
  unlink(request: UnlinkRequest): Promise<void>;
  /** Forgets a number: on its owner's request, which the operator has checked. */
  erase(request: EraseRequest): Promise<Erased>;
  /** Uses up the nonce of a signed request. @throws RegistryError INVALID_REQUEST, NONCE_REFUSED */
  useNonce(use: NonceUse): Promise<void>;
  /** Brings all records under the current keys, in batches, while serving. Goes on where it was stopped. */
  rotate(options?: RotateOptions): Promise<RotationState>;
  rotation(): Promise<RotationState>;
  /** Forgets what is over: codes, links that were not proven, expired links, used nonces, quotas, old audit entries. */
  sweep(): Promise<void>;
  /**
   * Looks at all links at once: none was taken away, brought back or put back to an older version behind the registry's
   * back. `sweep` does it every hour. Nobody waits for it.
   * @throws RegistryError RECORD_TAMPERED
   */
  check(options?: CheckOptions): Promise<CheckResult>;
  /** @throws DatabaseError STORE_UNAVAILABLE */
  ping(): Promise<void>;
  close(): Promise<void>;
}
