// The states of a purchase: the table that run.ts works through, docs/client.md draws and the crash tests kill in.
import { signalsDigest, type WireBundle } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import type { PurchaseRecord, SentAttempt } from "./record.ts";

/** One state of a purchase. */
export interface PurchaseState {
  /** What the wallet's store holds, written before the state is entered. */
  readonly journal: string;
  readonly next: readonly PurchaseStateName[];
  /** What the next equal request does if the process dies in this state. */
  readonly crash: string;
  /** How `openPurchases` shows it; null if the purchase is no longer open. */
  readonly shown: "paying" | "paid" | "stopped" | null;
}

/** A state's name. */
export type PurchaseStateName =
  | "begun"
  | "proving"
  | "proved"
  | "sent"
  | "verified"
  | "paid"
  | "shown"
  | "stopped"
  | "finished"
  | "abandoned";

/** All states of a purchase, in the order in which a purchase without obstacles passes through them. */
export const PURCHASE_STATES = {
  begun: {
    journal: "the terms, and the price reserved from the limits",
    next: ["proving", "abandoned"],
    crash: "asks the server again and pays; if none comes, another purchase abandons it after ten minutes",
    shown: "paying",
  },
  proving: {
    journal: "the payment in the wallet, which holds its note",
    next: ["proved", "begun", "paid", "abandoned"],
    crash: "reads the chain, then proves again with the same note, or with another one if the first is spent",
    shown: "paying",
  },
  proved: {
    journal: "the proof, which has not left the process",
    next: ["sent", "proving", "begun", "paid", "abandoned"],
    crash: "reads the chain, then sends this proof, or proves again if it is too old",
    shown: "paying",
  },
  sent: {
    journal: "that the service may have the proof",
    next: ["verified", "proving", "begun", "paid", "abandoned"],
    crash: "looks for the payment on the chain, then sends the same proof to the service again",
    shown: "paying",
  },
  verified: {
    journal: "the service's token",
    next: ["paid", "proving", "sent", "begun", "abandoned"],
    crash: "looks for the payment on the chain, then settles the same token again, which has one outcome",
    shown: "paying",
  },
  paid: {
    journal: "the transaction that settled it",
    next: ["shown", "stopped", "finished"],
    crash: "presents the proof, without asking the server first",
    shown: "paid",
  },
  shown: {
    journal: "that the server may have the proof",
    next: ["shown", "stopped", "finished"],
    crash: "presents the same proof again; a server that has answered it refuses it, and the purchase stops",
    shown: "paid",
  },
  stopped: {
    journal: "why the paid proof is of no use",
    next: ["finished"],
    crash: "throws the same error until `dismissPurchase` is called",
    shown: "stopped",
  },
  finished: {
    journal: "that the key is paid for, in place of the purchase",
    next: [],
    crash: "with the same key, throws `PURCHASE_FINISHED`; without a key, it is a new purchase",
    shown: null,
  },
  abandoned: {
    journal: "nothing more: the record is deleted and the price released, in one batch",
    next: [],
    crash: "is a new purchase",
    shown: null,
  },
} as const satisfies Record<PurchaseStateName, PurchaseState>;

/** The states in which a purchase is not known to be paid. */
export type PayingStateName = {
  [Name in PurchaseStateName]: (typeof PURCHASE_STATES)[Name]["shown"] extends "paying" ? Name : never;
}[PurchaseStateName];

/** The states of a purchase that has a record. */
export type OpenStateName = Exclude<PurchaseStateName, "finished" | "abandoned">;

/** An attempt at the payment that counts. `token` is undefined until the attempt is recorded as sent. */
export type Attempt = Omit<SentAttempt, "token" | "payment"> & { readonly token: string | undefined };

const NOTHING_ENDED: ReadonlySet<string> = new Set();

/** The wallet's newest proof of a payment; undefined while it is being made. */
export function proofOf(wallet: Wallet, payment: string): { bundle: WireBundle; digest: string } | undefined {
  const proof = wallet.has(payment) ? wallet.proofOf(payment) : undefined;
  if (proof === undefined || !("bundle" in proof)) return undefined;
  return { bundle: proof.bundle, digest: signalsDigest(proof.bundle.publicSignals.map(BigInt)) };
}

/**
 * The attempt to work on: the last one sent if it has a token, because its transaction may be pending, or else the
 * wallet's newest proof.
 * @param ended digests of attempts that can or should not settle any more
 */
export function attemptOf(
  { payments, sent }: PurchaseRecord,
  wallet: Wallet,
  ended = NOTHING_ENDED,
): Attempt | undefined {
  const payment = payments.at(-1)!;
  const last = sent.findLast((attempt) => attempt.payment === payment);
  if (last !== undefined && last.token !== "" && !ended.has(last.digest)) return last;
  const proof = proofOf(wallet, payment);
  if (proof === undefined || ended.has(proof.digest)) return undefined;
  return sent.find(({ digest }) => digest === proof.digest) ?? { ...proof, token: undefined };
}

/** The state of an open purchase, from what is stored. @param ended as for `attemptOf` */
export function stateOf(record: PurchaseRecord, wallet: Wallet, ended = NOTHING_ENDED): OpenStateName {
  if (record.problem !== null) return "stopped";
  if (record.settled !== null) return record.shown > 0 ? "shown" : "paid";
  if (!wallet.has(record.payments.at(-1)!)) return "begun";
  const attempt = attemptOf(record, wallet, ended);
  if (attempt === undefined) return "proving";
  if (attempt.token === undefined) return "proved";
  return attempt.token === "" ? "sent" : "verified";
}
