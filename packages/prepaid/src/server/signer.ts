// Signs packs, change and swaps in threads, because one signature blocks a thread for a third of a millisecond.

import { Worker } from "node:worker_threads";
import { CheckUnavailable } from "@sotto/resource-server";
import { PREPAID_KEY_BYTES } from "../index.ts";
import type { Key } from "./keyring.ts";

/** Messages in one order: small enough that all threads work on one pack. */
const ORDER_MESSAGES = 50;
/** Messages that wait or are being signed: 32 packs of 1000. */
const MAX_MESSAGES = 32_000;

/** What a thread signs at once: an order takes a tenth of a millisecond of this thread, however small it is. */
export interface SignerOrder {
  readonly parts: readonly {
    /** One for each message. */
    readonly keyIds: readonly string[];
    /** 256 bytes each, below the moduli. */
    readonly messages: Uint8Array;
  }[];
  /** Keys that this thread has not received before: PKCS #8, DER, by id. */
  readonly newKeys: ReadonlyMap<string, Uint8Array>;
}

/** The signatures of each part; undefined if signing failed. */
export type SignerAnswer = readonly (Uint8Array | undefined)[];

/** A key that signs. */
type SigningKey = Pick<Key, "id" | "privateKey">;

interface Job {
  readonly keys: readonly SigningKey[];
  readonly messages: Uint8Array;
  settle(signatures: Uint8Array): void;
  fail(error: Error): void;
}

interface Thread {
  readonly worker: Worker;
  /** What it signs now; empty if it waits. */
  jobs: readonly Job[];
  /** Ids of the keys that it has. */
  readonly keyIds: Set<string>;
}

const failed = (cause?: unknown): CheckUnavailable => new CheckUnavailable("SIGNER_FAILED", 5, cause);

/**
 * The number of the first message that its key cannot sign, because it is not below the key's modulus.
 * @param keyOf the key of a message, which it receives as its number from 0
 * @returns from 1; undefined if all can be signed
 */
export function unsignable(batch: Uint8Array, keyOf: (message: number) => Pick<Key, "modulus">): number | undefined {
  for (let i = 0; i < batch.length / PREPAID_KEY_BYTES; i++)
    if (keyOf(i).modulus.compare(batch, i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES) <= 0) return i + 1;
  return undefined;
}

export class Signer {
  readonly #size: number;
  readonly #threads = new Set<Thread>();
  readonly #queue: Job[] = [];
  #messages = 0;
  #closed = false;

  /** @param size number of threads; they start with the first pack */
  constructor(size: number) {
    this.#size = size;
  }

  /** Refuses a pack early if the queue is full. @throws CheckUnavailable OVERLOADED */
  assertCapacity(count: number): void {
    if (this.#messages + count > MAX_MESSAGES) throw new CheckUnavailable("OVERLOADED", 5);
  }

  /** Starts all threads early: they load while a payment is checked. */
  start(): void {
    while (!this.#closed && this.#threads.size < this.#size) this.#start();
  }

  /**
   * Raw RSA over blinded messages; every signature is checked.
   * @param keys one for each message, in their order
   * @param messages 256 bytes each, each below its key's modulus
   * @returns the signatures, one after the other
   * @throws CheckUnavailable OVERLOADED, SIGNER_FAILED
   */
  async sign(keys: readonly SigningKey[], messages: Uint8Array): Promise<Uint8Array> {
    const count = keys.length;
    if (messages.length !== count * PREPAID_KEY_BYTES || keys.some(({ privateKey }) => privateKey === undefined))
      throw new TypeError("no private key, or a partial message");
    if (this.#closed) throw failed();
    this.assertCapacity(count);
    this.#messages += count;
    try {
      const parts = Array.from({ length: Math.ceil(count / ORDER_MESSAGES) }, (_, i) => {
        const [from, to] = [i * ORDER_MESSAGES, (i + 1) * ORDER_MESSAGES];
        return this.#run(keys.slice(from, to), messages.slice(from * PREPAID_KEY_BYTES, to * PREPAID_KEY_BYTES));
      });
      const signatures = new Uint8Array(messages.length);
      let offset = 0;
      for (const part of await Promise.all(parts)) {
        signatures.set(part, offset);
        offset += part.length;
      }
      return signatures;
    } finally {
      this.#messages -= count;
    }
  }

  #run(keys: readonly SigningKey[], messages: Uint8Array): Promise<Uint8Array> {
    const done = new Promise<Uint8Array>((settle, fail) => this.#queue.push({ keys, messages, settle, fail }));
    this.#dispatch();
    return done;
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const idle = [...this.#threads].find(({ jobs }) => jobs.length === 0);
      const thread = idle ?? (this.#threads.size < this.#size ? this.#start() : undefined);
      if (thread === undefined) return;
      thread.jobs = this.#nextJobs();
      thread.worker.ref();
      thread.worker.postMessage(orderOf(thread));
    }
  }

  /** The jobs of the next order: the first one, and those after it that it has room for. */
  #nextJobs(): readonly Job[] {
    let count = 0;
    const end = this.#queue.findIndex(({ keys }, i) => {
      count += keys.length;
      return i > 0 && count > ORDER_MESSAGES;
    });
    return this.#queue.splice(0, end < 0 ? this.#queue.length : end);
  }

  #start(): Thread {
    // This file may run as TypeScript (type stripping) or compiled.
    const file = import.meta.url.endsWith(".ts") ? "./signer-worker.ts" : "./signer-worker.js";
    const thread: Thread = { worker: new Worker(new URL(file, import.meta.url)), jobs: [], keyIds: new Set() };
    thread.worker.on("message", (answer: SignerAnswer) => {
      const { jobs } = thread;
      thread.jobs = [];
      thread.worker.unref();
      for (const [i, { settle, fail }] of jobs.entries()) {
        const signatures = answer[i];
        if (signatures === undefined) fail(failed());
        else settle(signatures);
      }
      this.#dispatch();
    });
    thread.worker.on("error", () => undefined);
    thread.worker.on("exit", () => {
      this.#threads.delete(thread);
      // Purchases, claims and swaps are retried with the same batch, so they lose nothing.
      for (const { fail } of thread.jobs) fail(failed());
      if (!this.#closed) this.#dispatch();
    });
    // A thread without a job does not keep the process running.
    thread.worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { fail } of this.#queue.splice(0)) fail(failed());
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }
}

/** What a thread receives for its jobs, with the keys that it lacks. */
function orderOf({ jobs, keyIds }: Thread): SignerOrder {
  const newKeys = new Map<string, Uint8Array>();
  for (const { id, privateKey } of jobs.flatMap(({ keys }) => keys)) {
    if (keyIds.has(id)) continue;
    keyIds.add(id);
    newKeys.set(id, privateKey!);
  }
  return { parts: jobs.map(({ keys, messages }) => ({ keyIds: keys.map(({ id }) => id), messages })), newKeys };
}
