// Options of the registry: keys, limits, signature checks, the sender of codes, logs and metrics.
import type { Address } from "@sotto/protocol";
import type { RegistryKeys } from "../crypto/keys.ts";
import type { Rate } from "../quotas/rate.ts";
import type { E164, LinkRequest, UnlinkRequest } from "./types.ts";

/**
 * Checks wallets' signatures. Both throw a SottoError if the signature is invalid or the time is outside the window,
 * and return the EIP-712 digest of the struct, which identifies replays.
 */
export interface SignatureChecks {
  /** Tries the slots around `now` if the request has no issuedAt. */
  link(request: LinkRequest, now: number): Promise<{ readonly issuedAt: number; readonly digest: string }>;
  /** Checks the signature of a request to unlink, and its time. */
  unlink(request: UnlinkRequest, now: number): Promise<{ readonly digest: string }>;
}

/** Sends codes. Rejects if a code could not be sent. Must not log the code or the number. */
export interface CodeSender {
  /** Sends one code. Called again with the same message after a failure. */
  send(message: CodeMessage): Promise<void>;
}

/** A code to be sent. */
export interface CodeMessage {
  /** The number that receives the code. */
  readonly phone: E164;
  /** Six digits. */
  readonly code: string;
  /** Include it in the text, so that people do not enter a code that another wallet requested. */
  readonly wallet: Address;
  /** When the code expires, milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** Rates and durations. */
export interface RegistryLimits {
  /** Codes sent: per number, per number for the linked wallet, per wallet, per network address, and in total. */
  readonly codes: {
    readonly number: readonly Rate[];
    readonly linked: readonly Rate[];
    readonly wallet: readonly Rate[];
    readonly client: readonly Rate[];
    readonly total: readonly Rate[];
  };
  /** Codes tried, links renewed and links deleted, per client. */
  readonly tries: { readonly client: readonly Rate[] };
  /** Percent of all codes that are reserved for wallets whose number is linked, 0 to 90. */
  readonly linkedPercent: number;
  /**
   * Lookups of unknown numbers, each counted once a day per client: per network address, per wallet that signs, and per range of
   * numbers for all clients together and for each client.
   */
  readonly lookups: {
    readonly client: readonly Rate[];
    readonly caller: readonly Rate[];
    readonly range: readonly Rate[];
    readonly clientRange: readonly Rate[];
  };
  /** A range consists of the numbers that differ only in this many last digits, 1 to 6. */
  readonly rangeDigits: number;
  /** How long an unverified link is kept, s. */
  readonly pendingSeconds: number;
  /** How long the audit log is kept, s. */
  readonly auditSeconds: number;
}

/** The limits that may change while a registry is open. The others decide how numbers are counted and how long data is kept. */
export type LiveLimits = Pick<RegistryLimits, "codes" | "tries" | "lookups" | "linkedPercent">;

/** What the audit log and the metrics count. */
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

/** Receives outcomes, never numbers, wallets or clients. */
export interface RegistryMetrics {
  /** Counts an operation by its outcome. @param outcome ok, unknown, unverified, or an error's code */
  count(operation: RegistryOperation, outcome: string): void;
  /**
   * The used share of a lookup quota, or of all codes, 0 to 1. The gauge shows the highest value of the last minutes.
   */
  quotaUse(scope: "client" | "caller" | "range" | "clientRange" | "codes", used: number): void;
  /**
   * Share of unknown numbers among the latest lookups, 0 to 1. A high share suggests that someone is trying numbers.
   */
  unknownShare(share: number, lookups: number): void;
}

/** The part of a pino logger that the registry uses. */
export interface RegistryLog {
  /** An ordinary event, such as a finished sweep. */
  info(details: object, message: string): void;
  /** A fault that the registry works around, such as a code that was not sent. */
  warn(details: object, message: string): void;
  /** A fault that needs the operator. */
  error(details: object, message: string): void;
}

/** What a registry needs. */
export interface RegistryOptions {
  /** `sqlite:PATH`, `sqlite::memory:` or `postgres://..`. */
  readonly store: string;
  /** Keys that encrypt records and index numbers. */
  readonly keys: RegistryKeys;
  /** EIP-155 id that links must name. */
  readonly chainId: bigint;
  /** The pool that links must name. */
  readonly pool: Address;
  /** Public base URL of this registry, which wallets sign. */
  readonly service: string;
  /** Checks signatures of links and unlinks. */
  readonly signatures: SignatureChecks;
  /** Sends the codes that prove numbers. */
  readonly sender: CodeSender;
  /** How `resolve` answers an unverified number: with the link and `verified: false`, or not at all. */
  readonly unverified?: "show" | "hide" | undefined;
  /** Limits that differ from DEFAULT_LIMITS. */
  readonly limits?: Partial<RegistryLimits> | undefined;
  /** Current time, ms; default `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** Default: nothing is logged. */
  readonly log?: RegistryLog | undefined;
  /** Default: nothing is counted. */
  readonly metrics?: RegistryMetrics | undefined;
  /** Called for each unit of work; for tests that count it. */
  readonly onWork?: ((kind: "query" | "hmac" | "decrypt" | "encrypt") => void) | undefined;
}
