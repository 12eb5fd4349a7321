import { randomUUID } from "node:crypto";
import {
  type Address,
  type DepositCall,
  depositAuthorizationNonce,
  parseAddress,
  parseAmount,
  parseField,
} from "@sotto/protocol";
import { traced } from "@sotto/server";
import { ServiceError } from "../errors.ts";
import { assertDeadline, parseSeconds } from "../operations/deadline.ts";
import { assertQueued, type RelayServices, waitForRelayed } from "../operations/enqueue.ts";
import type { Caller } from "../operations/hold.ts";
import { sponsorQuotas } from "../operations/quotas.ts";
import { shownOf } from "../payments/settle.ts";
import type { AuthorizationId } from "../pool/authorizations.ts";
import type { NewDeposit, Operation } from "../store/index.ts";
import { checkAllowance, checkSignature } from "./authorization.ts";
import type { DepositRequest } from "./schemas.ts";

/** The parsed terms. */
interface DepositTerms {
  readonly from: Address;
  readonly ownerTags: readonly bigint[];
  readonly amounts: readonly bigint[];
  readonly nonce: string;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
}

/**
 * Queues a deposit that its depositor authorized, and waits for its outcome.
 * @throws ServiceError INVALID_REQUEST, WRONG_DEPLOYMENT, EXPIRED, VALIDITY_TOO_LONG, AMOUNT_TOO_SMALL, FEE_TOO_SMALL,
 * AUTHORIZATION_MISMATCH, NOT_APPROVED, INSUFFICIENT_TOKENS, QUOTA_EXCEEDED, CHAIN_UNAVAILABLE, and those of Admission.admit; SottoError of a field that
 * does not decode
 */
export async function relayDeposit(body: DepositRequest, caller: Caller, services: RelayServices): Promise<Operation> {
  const { config, facts, store } = services;
  const pool = parseAddress(body.pool, "pool");
  if (body.chainId !== String(config.chainId) || pool !== config.pool)
    throw new ServiceError(
      "WRONG_DEPLOYMENT",
      `this service serves the pool ${config.pool} on chain ${config.chainId}`,
    );
  const terms = parseTerms(body);
  assertAmounts(terms.amounts, facts.smallestDeposit);
  assertDeadline(terms.validBefore, "validBefore", services);
  if (Number(terms.validAfter) * 1000 >= services.clock())
    throw new ServiceError("AUTHORIZATION_MISMATCH", "the authorization is not valid yet (validAfter)");
  const digest = `${terms.from}:${terms.nonce}`;
  const known = await store.operations.getDeposit(digest);
  const authorization = { ...terms, to: pool, value: sumOf(terms.amounts), salt: body.salt };
  const accepted = (known?.call as DepositCall | undefined)?.signature;
  const signature = await checkSignature(body, authorization, accepted, caller, services);
  assertFee(terms, services);
  if (known !== undefined) return waitForRelayed(known, caller, services);
  await checkAllowance(body, authorization, services);
  await services.admission.admit("sponsored");
  const { from, ownerTags, amounts, salt, validAfter, validBefore, permit2 } = body;
  const next = {
    id: randomUUID(),
    digest,
    call: { from, ownerTags, amounts, salt, validAfter, validBefore, signature, ...(permit2 && { permit2 }) },
    client: caller.client,
    validUntil: Number(terms.validBefore),
  };
  const authorizationId = { from: terms.from, nonce: terms.nonce, permit2 };
  const step = caller.begin("deposit");
  const queue = () => queueCovered({ ...next, trace: step.keep }, terms, authorizationId, services);
  return traced(step, async () => waitForRelayed(await queue(), caller, services), shownOf);
}

/**
 * Queues a deposit if the balance covers it and all other open deposits of the account, because signatures are free. A
 * deposit that was already submitted transfers nothing more; it is queued so that its outcome is found.
 */
async function queueCovered(
  next: Omit<NewDeposit, "account" | "amount" | "balance">,
  { from, amounts }: DepositTerms,
  authorization: AuthorizationId,
  { config, pool, store }: RelayServices,
): Promise<Operation> {
  const amount = sumOf(amounts);
  // With a fee too: a deposit that reverts on chain pays none, and a contract account decides that free of charge.
  const quotas = sponsorQuotas(config, next.client, { depositor: from, notes: amounts.length });
  const enqueue = (balance: bigint | undefined) =>
    store.operations.enqueueDeposit({ ...next, account: from, amount, balance }, quotas);
  let balance = await pool.tokensOf(from);
  let queued = await enqueue(balance);
  if (queued.kind === "uncovered") {
    const newest = await pool.newestOf(authorization);
    balance = newest.tokens;
    queued = await enqueue(newest.isUsed ? undefined : balance);
  }
  if (queued.kind !== "uncovered") return assertQueued(queued);
  throw new ServiceError("INSUFFICIENT_TOKENS", uncovered({ balance, amount, ...queued }));
}

function uncovered({
  balance,
  amount,
  deposits,
  open,
}: Record<"balance" | "amount" | "open", bigint> & { deposits: number }) {
  if (deposits === 0) return `\`from\` has ${balance} base units, but the notes take ${amount}`;
  const others = `\`from\` has ${balance} base units, of which its open deposits (${deposits}) take ${open}`;
  const most = balance > open ? `, or deposit at most ${balance - open}` : "";
  return `${others}, but the notes take ${amount}; wait until those are settled${most}`;
}

function parseTerms(body: DepositRequest): DepositTerms {
  const ownerTags = body.ownerTags.map((tag, i) => parseField(tag, `ownerTags[${i}]`));
  const amounts = body.amounts.map((amount, i) => parseAmount(amount, `amounts[${i}]`));
  if (ownerTags.length !== amounts.length)
    throw new ServiceError("INVALID_REQUEST", "ownerTags and amounts must have the same length");
  if (ownerTags.includes(0n)) throw new ServiceError("INVALID_REQUEST", "an owner tag must not be 0");
  return {
    from: parseAddress(body.from, "from"),
    ownerTags,
    amounts,
    nonce: depositAuthorizationNonce({ ownerTags, amounts }, body.salt),
    validAfter: parseSeconds(body.validAfter, "validAfter"),
    validBefore: parseSeconds(body.validBefore, "validBefore"),
  };
}

function assertAmounts(amounts: readonly bigint[], smallest: bigint): void {
  const small = amounts.findIndex((amount) => amount < smallest);
  if (small < 0) return;
  throw new ServiceError("AMOUNT_TOO_SMALL", `amounts[${small}] is below the pool's smallest deposit, ${smallest}`);
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

function assertFee({ ownerTags, amounts }: DepositTerms, { config }: RelayServices): void {
  const { depositFee, feeTag } = config;
  if (depositFee === 0) return;
  const paid = ownerTags.some((tag, index) => tag === feeTag && amounts[index]! >= BigInt(depositFee));
  if (!paid)
    throw new ServiceError(
      "FEE_TOO_SMALL",
      `one note must have at least ${depositFee} base units and the owner tag ${feeTag}`,
    );
}
