// Signs packs in threads, because one signature blocks a thread for a third of a millisecond.

import { Worker } from "node:worker_threads";
import { CheckUnavailable } from "@sotto/resource-server";
import { PREPAID_KEY_BYTES } from "../index.ts";
import type { Key } from "./keyring.ts";

/** Messages in one order: small enough that all threads work on one pack. */
const ORDER_MESSAGES = 50;
/** Messages that wait or are being signed: 32 packs of 1000. */
const MAX_MESSAGES = 32_000;

export interface SignerOrder {
  readonly id: number;
  readonly keyId: string;
  /** PKCS #8, DER. */
  readonly privateKey: Uint8Array;
  /** 256 bytes each, below the modulus. */
  readonly messages: Uint8Array;
}

export interface SignerAnswer {
  readonly id: number;
  /** Undefined if signing failed. */
  readonly signatures?: Uint8Array;
}

interface Job {
  readonly order: SignerOrder;
  settle(signatures: Uint8Array): void;
  fail(error: Error): void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
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
  #orders = 0;
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
   * @param messages 256 bytes each, each below the key's modulus
   * @throws CheckUnavailable OVERLOADED, SIGNER_FAILED
   */
  async sign({ id: keyId, privateKey }: Key, messages: Uint8Array): Promise<Uint8Array> {
    const count = messages.length / PREPAID_KEY_BYTES;
    if (privateKey === undefined || !Number.isInteger(count))
      throw new TypeError("no private key, or a partial message");
    if (this.#closed) throw failed();
    this.assertCapacity(count);
    this.#messages += count;
    try {
      const size = ORDER_MESSAGES * PREPAID_KEY_BYTES;
      const parts = Array.from({ length: Math.ceil(messages.length / size) }, (_, i) =>
        this.#run({ id: ++this.#orders, keyId, privateKey, messages: messages.slice(i * size, (i + 1) * size) }),
      );
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

  #run(order: SignerOrder): Promise<Uint8Array> {
    const done = new Promise<Uint8Array>((settle, fail) => this.#queue.push({ order, settle, fail }));
    this.#dispatch();
    return done;
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const idle = [...this.#threads].find(({ job }) => job === undefined);
      const thread = idle ?? (this.#threads.size < this.#size ? this.#start() : undefined);
      if (thread === undefined) return;
      const job = this.#queue.shift()!;
      thread.job = job;
      thread.worker.ref();
      thread.worker.postMessage(job.order);
    }
  }

  #start(): Thread {
    // This file may run as TypeScript (type stripping) or compiled.
    const file = import.meta.url.endsWith(".ts") ? "./signer-worker.ts" : "./signer-worker.js";
    const thread: Thread = { worker: new Worker(new URL(file, import.meta.url)), job: undefined };
    thread.worker.on("message", ({ signatures }: SignerAnswer) => {
      const { job } = thread;
      thread.job = undefined;
      thread.worker.unref();
      if (signatures === undefined) job?.fail(failed());
      else job?.settle(signatures);
      this.#dispatch();
    });
    thread.worker.on("error", () => undefined);
    thread.worker.on("exit", () => {
      this.#threads.delete(thread);
      // The purchase is retried with the same batch, so it loses nothing.
      thread.job?.fail(failed());
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
