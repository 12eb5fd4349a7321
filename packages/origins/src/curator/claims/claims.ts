import { SottoError } from "@sotto/protocol";
import type { OriginClaim } from "../../core/claim.ts";
import type { ClaimProblem } from "../../core/set-state.ts";
import type { ClaimResult, CuratorMetrics } from "../ops/metrics.ts";
import type { SetWriter } from "../set/writer.ts";
import { appendEntries } from "../store/store.ts";

/** Checks proofs of the circuit `origin`, together with others that wait. */
export interface ClaimVerifier {
  verify(circuit: string, proof: readonly string[], signals: readonly string[], client: string): Promise<boolean>;
}

const RESULTS = {
  CLAIMED: "ORIGIN_CLAIM_CONFLICT",
  NOT_SETTLED: "ORIGIN_NOT_SETTLED",
  ROOT_STALE: "ORIGIN_ROOT_STALE",
  ROOT_UNKNOWN: "ORIGIN_ROOT_UNKNOWN",
} as const satisfies Record<ClaimProblem, ClaimResult>;

export interface ClaimsOptions {
  readonly writer: SetWriter;
  readonly verifier: ClaimVerifier;
  readonly metrics: CuratorMetrics;
}

/** Takes claims. Every replica does: a claim needs the heads, which are in the database, and no leader. */
export class Claims {
  readonly #options: ClaimsOptions;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /**
   * Checks claims and stores the new ones in the log, all of them before it returns.
   * @param client the client that asks, an id made by `clientIds`
   * @returns a result for each claim, in their order
   * @throws EngineError ENGINE_OVERLOADED, ENGINE_FAILED, ENGINE_CLOSED; DatabaseError STORE_UNAVAILABLE
   */
  async take(claims: readonly OriginClaim[], client: string): Promise<ClaimResult[]> {
    const { writer, metrics } = this.#options;
    await writer.sync();
    const results = await Promise.all(
      claims.map(async (claim) => this.#known(claim) ?? this.#proofProblem(claim, client)),
    );
    const open = claims.filter((_, i) => results[i] === undefined);
    if (open.length > 0) {
      const stored = await this.#store(open);
      let next = 0;
      for (const [i, result] of results.entries()) if (result === undefined) results[i] = stored[next++];
    }
    for (const result of results) metrics.claimed(result!);
    return results as ClaimResult[];
  }

  /** The result of a claim that is refused or known without a look at its proof; undefined if it may be new. */
  #known(claim: OriginClaim): ClaimResult | undefined {
    const { state } = this.#options.writer.replica;
    if (state.hasClaim(claim)) return "known";
    const problem = state.claimProblem(claim);
    return problem === undefined ? undefined : RESULTS[problem];
  }

  async #proofProblem({ nullifier, maskRoot, proof }: OriginClaim, client: string): Promise<ClaimResult | undefined> {
    try {
      const signals = [String(maskRoot), String(nullifier)];
      return (await this.#options.verifier.verify("origin", proof, signals, client))
        ? undefined
        : "ORIGIN_PROOF_INVALID";
    } catch (error) {
      if (error instanceof SottoError && /^(PROOF|SIGNAL)/.test(error.code)) return "ORIGIN_PROOF_INVALID";
      throw error;
    }
  }

  /** Stores claims with valid proofs. Another request may have stored some of them meanwhile. */
  #store(claims: readonly OriginClaim[]): Promise<ClaimResult[]> {
    const { writer } = this.#options;
    return writer.change(async (db) => {
      const first = new Map<bigint, bigint>();
      const added: OriginClaim[] = [];
      const results = claims.map((claim): ClaimResult => {
        const { nullifier, maskRoot } = claim;
        const known = this.#known(claim);
        if (known !== undefined) return known;
        const earlier = first.get(nullifier);
        if (earlier !== undefined) return earlier === maskRoot ? "known" : "ORIGIN_CLAIM_CONFLICT";
        first.set(nullifier, maskRoot);
        added.push(claim);
        return "stored";
      });
      await appendEntries(
        db,
        added.map((claim) => ({ type: "claim", claim })),
      );
      return results;
    });
  }
}
