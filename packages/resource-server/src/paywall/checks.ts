// The checks of a header, cheapest first, so that most invalid headers are rejected before any pairing. Interface 4.6.1
// lists the proofs first, but the response is the same for every failed check.
import {
  type AmountBounds,
  amountBounds,
  type Bytes32,
  checkCiphertext,
  checkOpening,
  checkRecipient,
  type Deployment,
  MAX_CLOCK_SKEW_MS,
  MAX_PAYMENT_AGE_MS,
  openingOf,
  type PaymentStatement,
  type ProofHeader,
} from "@sotto/protocol";
import { Failures, type Proofs } from "../checks/proofs.ts";
import type { Settlements } from "../checks/settlement.ts";
import {
  assertFresh,
  assertWallet,
  decryptAmount,
  type HeaderStatement,
  paidAddress,
  parseHeaderStatement,
} from "../checks/statement.ts";
import { decodeClaims, type Tokens } from "../checks/token.ts";
import type { Claim, PaymentClaims } from "../claims/claims.ts";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import type { Config } from "./config.ts";
import type { PaidTerms } from "./method.ts";
import type { CheckedAddress } from "./recipients.ts";
import { CLOCK_RETRY_SECONDS } from "./responses.ts";
import type { ServerClock } from "./server-clock.ts";
import type { PaidProof } from "./types.ts";

/** Allowance for clock differences between the servers and their database, ms. */
const MARGIN_MS = 60_000;
/** How long after its timestamp a payment is remembered, ms. */
export const REMEMBERED_MS = MAX_PAYMENT_AGE_MS + MAX_CLOCK_SKEW_MS + MARGIN_MS;

/** A payment spends exactly one note, so the nullifier identifies it. */
export const claimId = ({ chainId, pool }: Deployment, nullifier: bigint | string): string =>
  `${chainId}:${pool}:${nullifier}`;

export interface CheckParts {
  readonly config: Pick<Config, "recipients" | "deployment" | "inMemory">;
  /** Decrypts the amounts of payments to an address; undefined if this server does not have its key. */
  readonly viewingKeyOf: (address: CheckedAddress) => bigint | undefined;
  readonly tokens: Tokens;
  readonly proofs: Proofs;
  readonly settlements: Settlements;
  readonly claims: PaymentClaims;
  readonly serverClock: Pick<ServerClock, "problem">;
  readonly clock: () => number;
  /** When the store was opened, ms. An in-memory store knows every use since then. */
  readonly startedAt: number;
}

export class Checks {
  readonly #parts: CheckParts;
  readonly #failures = new Failures();

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  /** @throws CheckFailed, CheckUnavailable, the errors of `beforeProofs` */
  async pass(
    header: ProofHeader,
    { price, resource, beforeProofs }: PaidTerms,
  ): Promise<{ payment: PaidProof; claim: Claim }> {
    const { config, tokens, claims } = this.#parts;
    const { recipients, deployment } = config;
    assertWallet(header, recipients.wallet);
    await this.#assertTimely(header);
    const tokenClaims = await tokens.read(header.paymentToken);
    const address = paidAddress(tokenClaims, recipients.acceptedAt(header.timestamp));
    const bounds = amountBounds(price);
    const terms = { recipient: address.recipient, deployment, resourceUrl: resource, bounds };
    const statement = parseHeaderStatement(header, tokenClaims, terms);
    const { digest, signals } = statement;
    const { nullifier } = signals;
    const id = claimId(deployment, nullifier);
    this.#failures.assertBelowLimit(digest);
    await claims.assertUnused(id);
    await beforeProofs?.();
    const proven = await this.#prove(statement, bounds, address);
    const { timestamp, txSignature, recipientPublicKey: wallet } = header;
    const claim = await claims.acquire({ id, digest, resource, expiresAt: timestamp + REMEMBERED_MS });
    return {
      payment: {
        ...{ kind: "payment", id, ...proven, bounds, nullifier, digest },
        ...{ txSignature, resource, wallet, timestamp, header },
      },
      claim,
    };
  }

  /** Checks the proofs of a payment that may not be settled yet. @throws CheckFailed, CheckUnavailable */
  async assertProofs(statement: PaymentStatement): Promise<void> {
    const { bundle, signals, digest } = statement;
    const { recipients } = this.#parts.config;
    if (
      !recipients
        .acceptedAt(bundle.timestamp)
        .some(({ recipient }) => checkRecipient(statement, recipient) === undefined)
    )
      throw new CheckFailed("RECIPIENT_MONTH");
    const mismatch =
      checkOpening(signals, openingOf(statement, this.#parts.config.deployment)) ?? checkCiphertext(bundle);
    if (mismatch !== undefined) throw new CheckFailed(mismatch.kind);
    this.#failures.assertBelowLimit(digest);
    await this.#parts.proofs.assertValid(bundle).catch((error: unknown) => {
      if (error instanceof CheckFailed) this.#failures.add(digest);
      throw error;
    });
  }

  /**
   * The checks of a payment whose purchase is recovered: all of them, except that the payment may be old
   * and used. The service's token is not verified, because its keys may have changed since; that the pool settled the
   * payment proves more than the token does.
   * @param isAnswered whether the payment with this digest was accepted before; then chain and proofs are not asked
   * @returns the payment's digest
   * @throws CheckFailed, CheckUnavailable
   */
  async passAgain(
    header: ProofHeader,
    { price, resource }: PaidTerms,
    isAnswered: (digest: Bytes32) => Promise<boolean>,
  ): Promise<Bytes32> {
    const { recipients, deployment } = this.#parts.config;
    assertWallet(header, recipients.wallet);
    const claims = decodeClaims(header.paymentToken);
    const address = paidAddress(claims, recipients.acceptedAt(header.timestamp));
    const bounds = amountBounds(price);
    const terms = { recipient: address.recipient, deployment, resourceUrl: resource, bounds };
    const statement = parseHeaderStatement(header, claims, terms);
    const { digest } = statement;
    this.#failures.assertBelowLimit(digest);
    if (!(await isAnswered(digest))) await this.#prove(statement, bounds, address);
    return digest;
  }

  /** Whether a proof that is shown beside a payment is valid. @throws CheckUnavailable OVERLOADED */
  verifyAttached(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean> {
    return this.#parts.proofs.verify(circuit, proof, signals);
  }

  /** A header that only a wrong clock refuses may pass once the clock is right. */
  async #assertTimely(header: ProofHeader): Promise<void> {
    const { config, clock, serverClock } = this.#parts;
    try {
      assertFresh(header, clock());
      if (config.inMemory) this.#assertRemembered(header);
    } catch (error) {
      const problem = await serverClock.problem();
      throw problem === undefined ? error : new CheckUnavailable(problem.code, CLOCK_RETRY_SECONDS, problem);
    }
  }

  /**
   * Refuses headers whose use an in-memory store may not know: those from before its start, and those dated in the
   * future, which could be used now, and again if the server restarted before that date.
   */
  #assertRemembered({ timestamp }: ProofHeader): void {
    const aheadMs = timestamp - this.#parts.clock();
    if (aheadMs > 0) throw new CheckFailed("FROM_THE_FUTURE", Math.ceil(aheadMs / 1000));
    if (timestamp < this.#parts.startedAt) throw new CheckFailed("BEFORE_START");
  }

  /** The expensive checks: first the chain, then the proofs. */
  async #prove(
    { header, bundle, signals, digest, validUntil }: HeaderStatement,
    bounds: AmountBounds,
    address: CheckedAddress,
  ): Promise<Pick<PaidProof, "amount" | "settledThere">> {
    const { viewingKeyOf, settlements, proofs } = this.#parts;
    const { nullifier } = signals;
    const { ownerTag } = address.recipient;
    try {
      const { txSignature } = header;
      const { settledThere } = await settlements.find({ nullifier, digest, validUntil, txSignature });
      await proofs.assertValid(bundle);
      const viewingKey = viewingKeyOf(address);
      if (viewingKey === undefined) return { amount: undefined, settledThere };
      return { amount: decryptAmount({ viewingKeys: [viewingKey], ownerTag }, signals, bounds), settledThere };
    } catch (error) {
      if (error instanceof CheckFailed) this.#failures.add(digest);
      throw error;
    }
  }
}
