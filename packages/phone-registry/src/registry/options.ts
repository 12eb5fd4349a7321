// What the registry is opened with: keys, limits, who checks signatures, who sends codes, who is told.
import type { Address } from "@sotto/protocol";
import type { RegistryKeys } from "../crypto/keys.ts";
import type { Rate } from "../quotas/rate.ts";
import type { E164, LinkRequest, UnlinkRequest } from "./types.ts";

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

export interface RegistryLimits {
  /** Codes sent: for a number, for a number to the wallet that it is linked to, for a wallet, for an address, in all. */
  readonly codes: {
    readonly number: readonly Rate[];
    readonly linked: readonly Rate[];
    readonly wallet: readonly Rate[];
    readonly client: readonly Rate[];
    readonly total: readonly Rate[];
  };
  /** Codes typed in, links renewed and taken back, by who does. */
  readonly tries: { readonly client: readonly Rate[] };
  /** Percent of all codes that are kept for wallets whose number is linked, 0 to 90. */
  readonly linkedPercent: number;
  /**
   * Unknown numbers that are looked up, each counted once a day for who asks: for an address, for a wallet that signs,
   * and of a range of numbers for everybody together and for each asker.
   */
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
  /**
   * How much of a lookup quota somebody has used, or of the codes of all together, 0 to 1: the gauge shows the highest of
   * the last minutes.
   */
  quotaUse(scope: "client" | "caller" | "range" | "clientRange" | "codes", used: number): void;
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
  readonly unverified?: "show" | "hide" | undefined;
  /** What is left out is as in DEFAULT_LIMITS. */
  readonly limits?: Partial<RegistryLimits> | undefined;
  /** Now in ms. */
  readonly clock?: (() => number) | undefined;
  readonly log?: RegistryLog | undefined;
  readonly metrics?: RegistryMetrics | undefined;
  /** Called for each unit of work (a query, an HMAC, a decryption): for tests that count it. */
  readonly onWork?: ((kind: "query" | "hmac" | "decrypt" | "encrypt") => void) | undefined;
}
