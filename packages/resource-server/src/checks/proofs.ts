// The expensive checks, 1 and 2 of interface 4.6.1: about ten milliseconds each.
import { setImmediate } from "node:timers/promises";
import type { Bytes32, PaymentBundle } from "@sotto/protocol";
import type { Verifier } from "@sotto/prover";
import { CheckFailed } from "../outcome.ts";
import { CIRCUITS } from "../service/keys.ts";
import { Gate } from "./gate.ts";

/** Verification blocks the thread, so proofs are verified one at a time, with other requests handled in between. */
const MAX_WAITING = 64;

const [PAYMENT, RANGE] = CIRCUITS;

const words = (values: readonly bigint[]): string[] => values.map(String);

export class Proofs {
  readonly #verifier: Verifier;
  readonly #circuits: readonly string[];
  readonly #gate = new Gate(1, MAX_WAITING);

  /** @param attached the circuits of attachments. Default: none */
  constructor(verifier: Verifier, attached: readonly string[] = []) {
    this.#verifier = verifier;
    this.#circuits = [...CIRCUITS, ...attached];
  }

  /** Prepares the verifier before the first payment. A failure here is not an error: `assertValid` retries it. */
  async warm(): Promise<void> {
    await Promise.allSettled(this.#circuits.map((circuit) => this.#verifier.warm(circuit)));
  }

  /** @throws CheckFailed PROOF, AMOUNT_PROOF; CheckUnavailable OVERLOADED */
  async assertValid({ proof, publicSignals, amountProof, amountPublicSignals }: PaymentBundle): Promise<void> {
    await this.#gate.run(async () => {
      await setImmediate();
      if (!(await this.#isValid(PAYMENT, words(proof), words(publicSignals)))) throw new CheckFailed("PROOF");
      await setImmediate();
      if (!(await this.#isValid(RANGE, words(amountProof), words(amountPublicSignals))))
        throw new CheckFailed("AMOUNT_PROOF");
    });
  }

  /** Whether another proof is valid. @throws CheckUnavailable OVERLOADED */
  verify(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean> {
    return this.#gate.run(async () => {
      await setImmediate();
      return this.#isValid(circuit, proof, signals);
    });
  }

  async #isValid(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean> {
    try {
      return await this.#verifier.verify(circuit, proof, signals);
    } catch {
      // The eight numbers are not points on the curve.
      return false;
    }
  }
}

/** Failed checks per payment: one payment must not cause an unlimited number of expensive checks. */
const MAX_FAILURES = 64;
/** Maximum number of payments whose failures are counted. */
const MAX_PAYMENTS = 10_000;

/** Counts how often a payment with a valid token failed the expensive checks. */
export class Failures {
  readonly #counts = new Map<Bytes32, number>();

  /** @throws CheckFailed TOO_MANY_TRIES */
  assertBelowLimit(digest: Bytes32): void {
    if ((this.#counts.get(digest) ?? 0) >= MAX_FAILURES) throw new CheckFailed("TOO_MANY_TRIES");
  }

  add(digest: Bytes32): void {
    const count = this.#counts.get(digest) ?? 0;
    // Reinserting moves the payment to the end, so the payment whose last failure is oldest is dropped first.
    this.#counts.delete(digest);
    this.#counts.set(digest, count + 1);
    const oldest = this.#counts.keys().next();
    if (this.#counts.size > MAX_PAYMENTS && !oldest.done) this.#counts.delete(oldest.value);
  }
}
