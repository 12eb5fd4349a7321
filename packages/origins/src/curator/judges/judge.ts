import type { Address, Bytes32 } from "@sotto/protocol";

/** A deposit as judges see it. Everything about it is public. */
export interface Deposit {
  /** Index of its note, 0 to 2^30 - 1. */
  readonly leaf: number;
  /** Base units. */
  readonly amount: bigint;
  /** Hash of its transaction, 32 bytes, hex with 0x. */
  readonly transaction: Bytes32;
  /** The account whose tokens moved, lower case. */
  readonly depositor: Address;
  /** Time of its block, Unix seconds. */
  readonly timestamp: number;
}

/** A judge's answer. A deposit is accepted once every judge accepts it, and refused once one refuses it. */
export type Verdict =
  | { readonly verdict: "accept" | "refuse" }
  | {
      /** The judge does not know yet. */
      readonly verdict: "wait";
      /** When to ask again, ms; Infinity: once the judge calls `changed`. */
      readonly again: number;
      /** Why it does not know, if it should: it is logged and counted. */
      readonly error?: unknown;
    };

/** What a judge that watches something tells. */
export interface Watcher {
  /** What it judges by changed: accepted deposits are compared with it. */
  changed(): void;
  /** What it judges by could not be read. */
  failed(error: unknown): void;
}

/** Judges deposits. */
export interface Judge {
  /** Its kind, for metrics and the policy. */
  readonly name: string;
  /** Its parameters, for the policy. They contain no secrets. */
  readonly parameters: Readonly<Record<string, string | number>>;
  /** Judges a deposit. If it throws, the deposit waits. @param stopping aborts when the curator stops */
  judge(deposit: Deposit, stopping: AbortSignal): Promise<Verdict>;
  /**
   * Whether it refuses a deposit that was accepted before. It is asked about all accepted deposits after a change; a judge without it
   * judges once.
   */
  refuses?(deposit: Pick<Deposit, "leaf" | "depositor">): boolean;
  /** Begins to watch what it judges by. */
  start?(watcher: Watcher): Promise<void>;
  /** Stops watching. */
  stop?(): void;
}

export const ACCEPT: Verdict = { verdict: "accept" };
export const REFUSE: Verdict = { verdict: "refuse" };
