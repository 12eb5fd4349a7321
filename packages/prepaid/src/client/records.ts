import { endingWith, type MessagePart } from "@sotto/protocol";
import type { WireSignedSchedule } from "../index.ts";

/**
 * begun: journaled; its purchase may be paid. paid: its proof of payment is stored, its signatures are not. ready: its
 * signatures are stored and verified. void: the merchant returned a wrong signature, or refuses the signatures for
 * good. dropped: the owner gave it up.
 */
export type PackState = "begun" | "paid" | "ready" | "void" | "dropped";

/**
 * A pack of prepaid tokens, written before each step. The tokens themselves are not stored: they are derived from the
 * wallet's seed and the stored blind signatures, so nobody can spend or recognize them with the store alone.
 */
export interface PackRecord {
  /** 32 hex digits, of origin, key and number. */
  id: string;
  origin: string;
  /** The merchant's wallet, which signed the key. */
  wallet: string;
  keyId: string;
  /** Modulus of the key, hex with 0x. */
  modulus: string;
  /** Value of each token, base units, decimal. */
  value: string;
  epoch: string;
  /** Its number among the packs of this key: each size has its own numbers, in steps of the number of sizes. */
  number: number;
  count: number;
  /** SHA-256 of the blinded messages, hex with 0x. */
  batch: string;
  /** Milliseconds. */
  created: number;
  state: PackState;
  /** Value of X-Payment-Proof: evidence that the pack was paid, for the recover endpoint. */
  proof: string | null;
  /**
   * Whether the pack was bought before the wallet was restored. Which of its tokens were shown is not known, so they
   * are spent from the end, and the first one that is refused ends the pack.
   */
  restored: boolean;
}

/** Why no prepaid tokens are bought or shown at an origin until the owner decides. */
export interface Stop {
  code: "PREPAID_KEY_CONFLICT" | "PREPAID_SIGNATURES_INVALID" | "PREPAID_TOKEN_REFUSED";
  message: string;
  /** The merchant's own text at the end of the message; "" or undefined if there is none. */
  reason?: string | undefined;
  /** Milliseconds. */
  at: number;
  /** Two schedules that the merchant's wallet signed and that have different keys for one value and epoch. */
  evidence: WireSignedSchedule[];
}

/** Why a host was stopped, as the parts of a message. */
export const stoppedText = ({ message, reason = "" }: Stop): readonly MessagePart[] => endingWith(message, reason);

/** An origin at which packs were bought. */
export interface OriginRecord {
  origin: string;
  stopped: Stop | null;
  /** Number of packs whose signatures arrived. */
  packs: number;
  /** Tokens that the server did not take after an ambiguous failure, since the last stop was resolved. */
  lost: number;
}

/** A token that was shown, bound to its request. The next equal request shows it again. */
export interface ShownRecord {
  /** Id of its pack. */
  pack: string;
  index: number;
  /** Fingerprint of the request. */
  request: string;
  /** Milliseconds. */
  at: number;
}

/** How often a value was needed at an origin, and when the next pack is bought. */
export interface DemandRecord {
  origin: string;
  value: string;
  /** Requests of this value that were paid singly since the last pack. */
  paid: number;
  /** When the next pack is bought, ms; null if it is not needed yet. */
  due: number | null;
  /** The next pack is bought when at most this many tokens are left. */
  level: number;
}
