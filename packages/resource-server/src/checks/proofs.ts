// The expensive checks: 1 and 2 of interface 4.6.1, ten milliseconds each.
import { setImmediate } from "node:timers/promises";
import type { Bytes32, PaymentBundle } from "@sotto/protocol";
import type { Verifier } from "@sotto/prover";
import { CheckFailed } from "../outcome.ts";
import { CIRCUITS } from "../service/keys.ts";
import { Gate } from "./gate.ts";

/** Verifying keeps the thread: one at a time, and other requests in between. */
const WAITING = 64;

const [PAYMENT, RANGE] = CIRCUITS;

const words = (values: readonly bigint[]): string[] => values.map(String);

export class Proofs {
  readonly #verifier: Verifier;
  readonly #gate = new Gate(1, WAITING);

  constructor(verifier: Verifier) {
    this.#verifier = verifier;
  }

  /** Before the first payer waits for it. What fails here is tried again with its payment. */
  async warm(): Promise<void> {
    await Promise.allSettled(CIRCUITS.map((circuit) => this.#verifier.warm(circuit)));
  }

  /** @throws CheckFailed PROOF, AMOUNT_PROOF; CheckUnavailable OVERLOADED */
  async check({ proof, publicSignals, amountProof, amountPublicSignals }: PaymentBundle): Promise<void> {
    await this.#gate.run(async () => {
      await setImmediate();
      if (!(await this.#holds(PAYMENT, proof, publicSignals))) throw new CheckFailed("PROOF");
      await setImmediate();
      if (!(await this.#holds(RANGE, amountProof, amountPublicSignals))) throw new CheckFailed("AMOUNT_PROOF");
    });
  }

  async #holds(circuit: string, proof: readonly bigint[], signals: readonly bigint[]): Promise<boolean> {
    try {
      return await this.#verifier.verify(circuit, words(proof), words(signals));
    } catch {
      // Eight numbers that are no points.
      return false;
    }
  }
}

/** Failures that one payment is forgiven. Its payer has paid for it once, and not for the checks of any number of headers. */
const MOST_FAILURES = 64;
const MOST_PAYMENTS = 10_000;

/** Counts how often a payment that the service vouched for failed the checks that cost something. */
export class Failures {
  readonly #counts = new Map<Bytes32, number>();

  /** @throws CheckFailed TOO_MANY_TRIES */
  assertFew(digest: Bytes32): void {
    if ((this.#counts.get(digest) ?? 0) >= MOST_FAILURES) throw new CheckFailed("TOO_MANY_TRIES");
  }

  add(digest: Bytes32): void {
    const count = this.#counts.get(digest) ?? 0;
    // Last in order again: what is forgotten is what failed longest ago.
    this.#counts.delete(digest);
    this.#counts.set(digest, count + 1);
    const oldest = this.#counts.keys().next();
    if (this.#counts.size > MOST_PAYMENTS && !oldest.done) this.#counts.delete(oldest.value);
  }
}
