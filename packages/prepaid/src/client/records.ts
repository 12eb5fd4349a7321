import type { Reservation } from "@sotto/client";
import { endingWith, type MessagePart } from "@sotto/protocol";
import type { StoreChange, StoreValue } from "@sotto/wallet";
import type { PrepaidPackVersion, WireSignedMeteredTerms, WireSignedSchedule } from "../index.ts";

/** The change that writes a record: JSON, whose interface lacks the index signature that StoreValue requires. */
export const put = (key: string, record: object): StoreChange => ({ put: key, value: record as unknown as StoreValue });

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
  /** How its nonces are derived; version 1 if it is absent. Metered routes take tokens of version 2 only. */
  version?: PrepaidPackVersion | undefined;
  /**
   * Its number among the packs of this key and version: each size has its own numbers, in steps of the number of sizes. Of change
   * 0.
   */
  number: number;
  count: number;
  /** SHA-256 of the blinded messages, hex with 0x. */
  batch: string;
  /** Milliseconds. */
  created: number;
  state: PackState;
  /** Value of X-Payment-Proof: evidence that the pack was paid, for the recover endpoint. */
  proof: string | null;
  /** Further headers that show what the merchant asks for beside the payment. Absent until the pack is paid. */
  attached?: Record<string, string> | undefined;
  /**
   * Whether the pack was bought before the wallet was restored. Which of its tokens were shown is not known, so they
   * are spent from the end, and the first one that is refused ends the pack.
   */
  restored: boolean;
  /** Only of change and swaps: where its tokens come from. A wallet that is restored from its words does not find them. */
  change?: ChangeSource | undefined;
}

/** Tokens that a merchant signed as change or in a swap. */
export interface ChangeSource {
  /** The label from which the wallet derives their secret. Its last part is random. */
  label: string;
  /** Index of the first one among those of the label. */
  first: number;
  /** The value up to which they are swapped: the cap of the route that gave them, base units, decimal. */
  cap: string;
}

/** Why no prepaid tokens are bought or shown at an origin until the owner decides. */
export interface Stop {
  code:
    | "PREPAID_KEY_CONFLICT"
    | "PREPAID_SIGNATURES_INVALID"
    | "PREPAID_TOKEN_REFUSED"
    | "PREPAID_TERMS_CONFLICT"
    | "PREPAID_RECEIPT_INVALID"
    | "PREPAID_CHANGE_REFUSED";
  message: string;
  /** The merchant's own text at the end of the message; "" or undefined if there is none. */
  reason?: string | undefined;
  /** Milliseconds. */
  at: number;
  /** Two schedules that the merchant's wallet signed and that have different keys for one value and epoch. */
  evidence: WireSignedSchedule[];
  /** Terms that the merchant's wallet signed and that contradict each other or a receipt. */
  terms?: WireSignedMeteredTerms[] | undefined;
  /** Receipts of the merchant that contradict its terms or each other, as `formatReceipt` writes them. */
  receipts?: string[] | undefined;
}

/** A stop before it is dated. It needs no schedules. */
export type StopReason = Omit<Stop, "at" | "evidence"> & Partial<Pick<Stop, "evidence">>;

/** What a merchant signed and a wallet refused. */
export type Proof = Pick<Stop, "receipts" | "terms">;

/** Why a host was stopped, as the parts of a message. */
export const stoppedText = ({ message, reason = "" }: Stop): readonly MessagePart[] => endingWith(message, reason);

/** An origin at which packs were bought. */
export interface OriginRecord {
  origin: string;
  stopped: Stop | null;
  /** Number of packs whose signatures arrived, without packs of 1. */
  packs: number;
  /** Tokens that the server did not take after an ambiguous failure, since the last stop was resolved. */
  lost: number;
}

/** That a mirror keeps a key or terms of a merchant, as this wallet has compared. */
export interface MirroredRecord {
  /** Base URL. */
  mirror: string;
  /** Id of the key, or digest of the terms, hex with 0x. */
  id: string;
  /** The month of the key, or the last month of the terms. */
  epoch: string;
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

/**
 * shown: its token was or will be sent. claimed: the receipt and the source of the change are stored, the signatures are not.
 * unknown: the server answered to the claim that it does not know the token; an equal request may show it. refused: the server
 * refuses the change; the record is evidence.
 */
export type MeteredState = "shown" | "claimed" | "unknown" | "refused";

/** A request of a metered route, from before its token is shown until its change is stored. */
export interface MeteredRecord {
  /** `tokenIdHash` without 0x. */
  id: string;
  origin: string;
  /** The merchant's wallet. */
  wallet: string;
  /** The key that signed the token, hex with 0x, and its month. */
  keyId: string;
  epoch: string;
  /** The label from which the wallet derives the secret of the token's pack, and the token's index. */
  label: string;
  index: number;
  /** Id of the token's pack, which may be deleted before this record. */
  pack: string;
  method: string;
  /** Path and query. */
  target: string;
  /** Fingerprint of the request. */
  request: string;
  /** Digest of the terms, and hash of their rule for this request, hex with 0x. */
  terms: string;
  rule: string;
  /** Base units, decimal. */
  cap: string;
  /** When the token was taken, ms. */
  at: number;
  /** Whether the pack was found after the wallet was restored: then an earlier request may have spent the token. */
  restored: boolean;
  /** Whether the cap counts against the limits of `place`. */
  reserved: boolean;
  place: Reservation;
  state: MeteredState;
  /** Whether the server has answered the request as paid. */
  served?: boolean | undefined;
  /** How often the server said that it does not know the token, at most once each time that it was shown. */
  lost?: number | undefined;
  /**
   * When the server was first asked for the receipt, and once that has arrived for the change, ms; absent as long as it was not
   * asked, or has answered at once.
   */
  askedAt?: number | undefined;
  /** The receipt as JSON, since it is claimed. */
  receipt: string | null;
  /** What the merchant signed, since it is refused. */
  proof?: Proof | undefined;
  /**
   * The source of its change: a label, and the month of the keys that sign. Null if there is no change, and before the receipt also
   * if the charge is not known.
   */
  change: { label: string; epoch: string } | null;
  /** What the response said that the request costs, base units, decimal: nobody signed it. Its source of change is for this charge. */
  said?: string | undefined;
}

/** A swap, from before it is sent until its tokens are stored. */
export interface SwapRecord {
  /** The last part of its label. */
  id: string;
  origin: string;
  wallet: string;
  /** The label from which the wallet derives the secret of the new tokens. */
  label: string;
  /** The month of the new tokens. */
  epoch: string;
  /** The tokens that are spent: pack and index. */
  spend: { pack: string; index: number }[];
  /** Values of the new tokens, base units, decimal. */
  receive: string[];
  /** See `ChangeSource`. */
  cap: string;
}

/** What was charged for a request, kept as evidence. */
export interface ChargeRecord {
  /** `tokenIdHash` without 0x. */
  id: string;
  /** The receipt as JSON. */
  receipt: string;
  /** Digest of the terms to which the request agreed, hex with 0x. */
  terms: string;
  /** When the request was sent, ms. */
  at: number;
}
