// The checks of a header, cheapest first, so that invalid headers cost no pairing. Interface 4.6.1 lists the proofs first,
// but the response is the same for every failed check.
import { amountBounds, type Deployment, type ProofHeader } from "@sotto/protocol";
import { readAmount } from "../checks/amount.ts";
import { CheckFailed } from "../checks/outcome.ts";
import { Failures, type Proofs } from "../checks/proofs.ts";
import type { Settlements } from "../checks/settlement.ts";
import {
  checkClaims,
  checkRecipient,
  checkSignals,
  checkTime,
  type Demand,
  FRESH_MS,
  SKEW_MS,
  type Statement,
} from "../checks/statement.ts";
import type { Tokens } from "../checks/token.ts";
import type { Claim, Claims } from "../claims/claims.ts";
import type { Config } from "./config.ts";
import type { PaidProof } from "./types.ts";

/** Beyond what a header is fresh, ms: clocks of servers, and of their database, differ. */
const MARGIN_MS = 60_000;
/** How long a payment is remembered behind its timestamp, ms. */
export const REMEMBERED_MS = FRESH_MS + SKEW_MS + MARGIN_MS;

/** A payment spends one note, so this is what it is known by. */
export const claimId = ({ chainId, pool }: Deployment, nullifier: bigint | string): string =>
  `${chainId}:${pool}:${nullifier}`;

export interface CheckParts {
  readonly config: Pick<Config, "merchant" | "place" | "forgetful">;
  readonly viewingKey: bigint | undefined;
  readonly tokens: Tokens;
  readonly proofs: Proofs;
  readonly settlements: Settlements;
  readonly claims: Claims;
  readonly clock: () => number;
  /** When the store was opened, ms: one in memory knows of every use since then. */
  readonly startedAt: number;
}

export class Checks {
  readonly #parts: CheckParts;
  readonly #failures = new Failures();

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  /**
   * @param price base units
   * @throws CheckFailed, CheckUnavailable
   */
  async pass(header: ProofHeader, price: bigint, resource: string): Promise<{ payment: PaidProof; claim: Claim }> {
    const { config, tokens, claims, clock } = this.#parts;
    const demand: Demand = { resource, bounds: amountBounds(price) };
    checkRecipient(header, config.merchant);
    checkTime(header, clock());
    if (config.forgetful) this.#checkRemembered(header);
    const said = await tokens.read(header.paymentToken);
    checkClaims(said, header, config.merchant, demand);
    const statement = checkSignals(header, BigInt(said.senderCommitment), config.merchant, demand);
    const { digest, nullifier } = statement;
    const id = claimId(config.place, nullifier);
    this.#failures.expectFew(digest);
    await claims.expectUnused(id);
    const proven = await this.#prove(statement, demand);
    const expiresAt = header.timestamp + REMEMBERED_MS;
    const claim = await claims.take({ id, digest, resource, expiresAt });
    const { bounds } = demand;
    const { timestamp, txSignature } = header;
    const { wallet } = config.merchant;
    return {
      payment: { ...proven, bounds, nullifier, digest, txSignature, resource, wallet, timestamp, header },
      claim,
    };
  }

  /**
   * A memory that began at the start knows of every use since then. A header from the future might be used now, and
   * again after a restart that comes before its time: it waits until its time has come.
   */
  #checkRemembered({ timestamp }: ProofHeader): void {
    const early = timestamp - this.#parts.clock();
    if (early > 0) throw new CheckFailed("FROM_THE_FUTURE", Math.ceil(early / 1000));
    if (timestamp < this.#parts.startedAt) throw new CheckFailed("BEFORE_START");
  }

  /** What costs a question to the chain, and then what costs a pairing. */
  async #prove(statement: Statement, { bounds }: Demand): Promise<Pick<PaidProof, "amount" | "settledThere">> {
    const { config, viewingKey, settlements, proofs } = this.#parts;
    const { digest, nullifier, validUntil, header } = statement;
    try {
      const { txSignature } = header;
      const { settledThere } = await settlements.find({ nullifier, digest, validUntil, txSignature });
      await proofs.check(statement);
      if (viewingKey === undefined) return { amount: undefined, settledThere };
      const { ownerTag } = config.merchant.shielded;
      return { amount: readAmount({ viewingKey, ownerTag }, statement, bounds), settledThere };
    } catch (error) {
      if (error instanceof CheckFailed) this.#failures.add(digest);
      throw error;
    }
  }
}
