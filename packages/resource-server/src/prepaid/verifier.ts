// Verifies the signatures of tokens in a thread: one takes about a third of what a request costs a server otherwise.
import { PREPAID_KEY_BYTES, PREPAID_TOKEN_BYTES, type PrepaidToken } from "@sotto/protocol/prepaid";
import { CheckUnavailable } from "../outcome.ts";
import { Batches } from "./batches.ts";
import type { Key } from "./keyring.ts";
import { Thread } from "./thread.ts";
import type { VerifyData, VerifyOrder } from "./verify-worker.ts";

/** Tokens in one order: a few milliseconds of work. */
const MAX_BATCH = 100;
/** Tokens that wait for an order: less than a second of work. */
const MAX_WAITING = 10_000;

/** A token with the request header that it was decoded from. */
export interface ShownToken extends PrepaidToken {
  readonly header: string;
}

interface Waiting {
  readonly token: ShownToken;
  settle(isSigned: boolean): void;
  fail(error: unknown): void;
}

export class Verifier {
  readonly #thread: Thread<VerifyOrder, boolean[]>;
  readonly #batches = new Batches<Waiting>(MAX_BATCH, (batch) => this.#verify(batch));

  constructor(keys: readonly Key[]) {
    const data: VerifyData = {
      keys: new Map(keys.map(({ id, publicKey }) => [id, publicKey])),
      inputBytes: PREPAID_TOKEN_BYTES - PREPAID_KEY_BYTES,
    };
    this.#thread = new Thread("verify-worker", data);
  }

  /**
   * Whether a token is signed by its key.
   *
   * @param token of one of the keys
   * @throws CheckUnavailable OVERLOADED, VERIFIER_FAILED
   */
  isSigned(token: ShownToken): Promise<boolean> {
    if (this.#batches.waiting >= MAX_WAITING) return Promise.reject(new CheckUnavailable("OVERLOADED", 2));
    return new Promise((settle, fail) => this.#batches.add({ token, settle, fail }));
  }

  async #verify(batch: readonly Waiting[]): Promise<void> {
    try {
      const tokens = batch.map(({ token }) => token);
      const order = { headers: tokens.map(({ header }) => header), keyIds: tokens.map(({ keyId }) => keyId) };
      const signed = await this.#thread.run(order);
      for (const [i, { settle }] of batch.entries()) settle(signed[i] === true);
    } catch (cause) {
      for (const { fail } of batch) fail(new CheckUnavailable("VERIFIER_FAILED", 2, cause));
    }
  }

  /** Resolves once no token waits. */
  async close(): Promise<void> {
    await this.#batches.end();
    await this.#thread.close();
  }
}
