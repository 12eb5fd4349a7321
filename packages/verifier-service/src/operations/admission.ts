// Whether the relayer can settle another operation now. If not, the service answers 503 and issues no token: a payer with a
// token that cannot be settled would wait for minutes.
import { type Chain, type Head, isNodeFault } from "@sotto/chain";
import type { Check, Need } from "@sotto/server";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../errors.ts";
import type { DataCost, FeeMarket } from "../relayer/fee-market.ts";
import type { Fees } from "../relayer/fees.ts";
import { PAYMENT_GAS, SPONSORED_GAS } from "../relayer/gas.ts";
import type { Relayer } from "../relayer/index.ts";
import type { SignerErrorCode } from "../signer/index.ts";
import type { Commitments, Store } from "../store/index.ts";

/**
 * payment: with or without a token. sponsored: a deposit or withdrawal; together they may use at most half of a day's
 * budget.
 */
export type AdmissionKind = "payment" | "sponsored";

export type ObstacleCode =
  | "SERVICE_CLOCK_WRONG"
  | "HEAD_TOO_OLD"
  | "FEES_TOO_HIGH"
  | SignerErrorCode
  | "RELAYER_BALANCE_LOW"
  | "GAS_BUDGET_EXHAUSTED"
  | "RELAYER_STUCK";

/** A reason why nothing can be settled now. */
export interface Obstacle {
  readonly code: ObstacleCode;
  readonly message: string;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number;
}

/** An account of the relayer. */
export interface AccountOutlook {
  readonly address: string;
  /** Why its signer does not work; undefined if it works. */
  readonly fault: SignerErrorCode | undefined;
  /** Wei. */
  readonly balance: bigint;
}

/** The state that admission depends on. */
export interface Outlook {
  /** Age of the newest block, ms. */
  readonly headAge: number;
  /** Wei per unit of gas; undefined while the base fee exceeds the cap. */
  readonly fees: Fees | undefined;
  /** What an operation's data costs on the parent chain. */
  readonly data: DataCost;
  /** The accounts that send transactions, at least one. */
  readonly accounts: readonly AccountOutlook[];
  /** Wei spent today, including the maximum cost of transactions that are not mined. */
  readonly gasToday: bigint;
  readonly commitments: Commitments;
  /** Ms since the leading relayer last completed a round. */
  readonly silence: number;
  /** The current time, ms. */
  readonly now: number;
}

type Limits = Pick<Config, "gasBudget" | "leastBalance" | "maxHeadAgeMs" | "blockTimeMs">;

/**
 * A relayer that has not completed a round for this long is stuck, ms. It is twice the shortest time a payment may have
 * left.
 */
export const MAX_SILENCE_MS = 60_000;
const DAY_MS = 86_400_000;
const RETRY_SECONDS = 30;

/**
 * Maximum time by which the chain's newest block may be ahead of the service's clock, ms: the proofs of clients with a right
 * clock then seem to be dated in the future.
 */
const MAX_LAG_MS = 60_000;

/** All obstacles, by the readiness check that shows them. */
export function findObstacles(
  outlook: Outlook,
  limits: Limits,
  kind: AdmissionKind = "payment",
): Readonly<Record<"head" | "fees" | "signer" | "relayer" | "budget" | "leader", Obstacle | undefined>> {
  const { fees, headAge, silence, accounts, now } = outlook;
  const signer = accounts.every(({ fault }) => fault !== undefined) ? accounts[0]?.fault : undefined;
  const blockSeconds = Math.ceil(limits.blockTimeMs / 1000);
  const obstacle = (found: boolean, code: ObstacleCode, message: string, retryAfter = RETRY_SECONDS) =>
    found ? { code, message, retryAfter } : undefined;
  const isChecked = limits.maxHeadAgeMs > 0;
  const seconds = Math.round(Math.abs(headAge) / 1000);
  const clock = obstacle(
    isChecked && headAge < -MAX_LAG_MS,
    "SERVICE_CLOCK_WRONG",
    `the service's clock is ${seconds} s behind the chain's time; try again`,
  );
  const old = obstacle(
    isChecked && headAge > limits.maxHeadAgeMs,
    "HEAD_TOO_OLD",
    `the chain's newest block is ${seconds} s old, so transactions would not be mined in time; try again`,
  );
  return {
    head: clock ?? old,
    fees: obstacle(
      fees === undefined,
      "FEES_TOO_HIGH",
      "the gas price exceeds the service's limit; try again",
      Math.max(RETRY_SECONDS, blockSeconds),
    ),
    signer: signer && {
      code: signer,
      message: "the service cannot sign transactions at the moment; try again",
      retryAfter: RETRY_SECONDS,
    },
    relayer: obstacle(
      balanceOf(outlook, limits) < neededBalance(outlook, limits, kind),
      "RELAYER_BALANCE_LOW",
      "the service's accounts cannot pay for more transactions; try again later",
      10 * RETRY_SECONDS,
    ),
    budget: obstacle(
      neededBudget(outlook, kind) > (kind === "payment" ? limits.gasBudget : limits.gasBudget / 2n),
      "GAS_BUDGET_EXHAUSTED",
      "the service has spent its gas budget of today; try again tomorrow (UTC)",
      Math.ceil((DAY_MS - (now % DAY_MS)) / 1000),
    ),
    leader: obstacle(
      silence > MAX_SILENCE_MS,
      "RELAYER_STUCK",
      `the relayer has not read the chain for ${Math.round(silence / 1000)} s; try again`,
    ),
  };
}

/** Cost in wei of all promised payments and one more operation, at the current price. */
function promised({ fees, data, commitments }: Outlook, kind: AdmissionKind): bigint {
  const cost = (gas: bigint) => (gas + data.gas) * (fees?.maxFee ?? 0n) + data.fee;
  const own = cost(kind === "payment" ? PAYMENT_GAS : SPONSORED_GAS);
  return BigInt(commitments.payments) * cost(PAYMENT_GAS) + own;
}

const neededBudget = (outlook: Outlook, kind: AdmissionKind): bigint => outlook.gasToday + promised(outlook, kind);

/**
 * Wei of the accounts that send: their signers work, and they have the least balance. If no signer works, that is an obstacle of
 * its own.
 */
function balanceOf({ accounts }: Outlook, { leastBalance }: Limits): bigint {
  const working = accounts.filter(({ fault }) => fault === undefined);
  const sending = (working.length > 0 ? working : accounts).filter(({ balance }) => balance >= leastBalance);
  return sending.reduce((sum, { balance }) => sum + balance, 0n);
}

function neededBalance(outlook: Outlook, { leastBalance }: Limits, kind: AdmissionKind): bigint {
  const needed = outlook.commitments.unmined + promised(outlook, kind);
  return needed > leastBalance ? needed : leastBalance;
}

export interface AdmissionParts {
  readonly config: Limits;
  readonly chain: Pick<Chain, "head" | "balance">;
  readonly store: Pick<Store, "gasToday" | "commitments" | "sinceLastRound">;
  readonly relayer: Pick<Relayer, "checkSigners">;
  readonly market: Pick<FeeMarket, "current" | "sampleCost">;
  readonly clock: () => number;
}

/** The accounts at fault, with the code of each; undefined if there is only one account, because the check itself names its code. */
function faultsOf(
  accounts: readonly AccountOutlook[],
  faultOf: (account: AccountOutlook) => string | undefined,
): Readonly<Record<string, string>> | undefined {
  if (accounts.length === 1) return undefined;
  const found = accounts.flatMap((account) => {
    const fault = faultOf(account);
    return fault === undefined ? [] : [[account.address, fault]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function checkOf(
  obstacle: Obstacle | undefined,
  faults: Readonly<Record<string, string>> | undefined,
): Check | undefined {
  if (obstacle === undefined && faults === undefined) return undefined;
  const ok = obstacle === undefined;
  return { ok, ...(ok ? {} : { code: obstacle.code }), ...(faults === undefined ? {} : { faults }) };
}

/** How long an outlook is reused, ms: longer than a burst of requests, shorter than a block. */
const OUTLOOK_MS = 2_000;

/** An outlook, and the number of payments promised since. */
interface View {
  readonly at: number;
  readonly outlook: Promise<Outlook>;
  promised: number;
}

/** Decides whether another operation may be promised. Requests within two seconds share one outlook. */
export class Admission {
  readonly #parts: AdmissionParts;
  readonly #startedAt: number;
  #last: View | undefined;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock();
  }

  /**
   * Admits one more operation if it can be settled. An admitted payment counts as promised from now on.
   * @returns a function that releases the promise if the payment is not queued
   * @throws ServiceError SERVICE_CLOCK_WRONG, HEAD_TOO_OLD, FEES_TOO_HIGH, SIGNER_UNAVAILABLE, SIGNER_REFUSED, SIGNER_MISMATCH,
   * RELAYER_BALANCE_LOW, GAS_BUDGET_EXHAUSTED, RELAYER_STUCK, CHAIN_UNAVAILABLE
   */
  async admit(kind: AdmissionKind): Promise<() => void> {
    const view = this.#look();
    const outlook = await view.outlook.catch((cause: unknown) => {
      if (isNodeFault(cause))
        throw new ServiceError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
      throw cause;
    });
    const payments = outlook.commitments.payments + view.promised;
    const commitments = { ...outlook.commitments, payments };
    const found = Object.values(findObstacles({ ...outlook, commitments }, this.#parts.config, kind));
    const obstacle = found.find((each) => each !== undefined);
    if (obstacle !== undefined) {
      const { code, message, retryAfter } = obstacle;
      throw new ServiceError(code, message, { retryAfter });
    }
    if (kind !== "payment") return () => {};
    view.promised += 1;
    return () => {
      view.promised -= 1;
    };
  }

  /** One readiness check for each obstacle. Those of accounts name the accounts at fault, even if others can send. */
  needs(): Readonly<Record<keyof ReturnType<typeof findObstacles>, Need>> {
    type Name = keyof ReturnType<typeof findObstacles>;
    const { config } = this.#parts;
    const need = (name: Name, faultOf?: (account: AccountOutlook) => string | undefined) => async () => {
      const outlook = await this.#look().outlook;
      return checkOf(findObstacles(outlook, config)[name], faultOf && faultsOf(outlook.accounts, faultOf));
    };
    return {
      head: need("head"),
      fees: need("fees"),
      signer: need("signer", ({ fault }) => fault),
      relayer: need("relayer", ({ balance }) => (balance < config.leastBalance ? "RELAYER_BALANCE_LOW" : undefined)),
      budget: need("budget"),
      leader: need("leader"),
    };
  }

  #look(): View {
    const now = this.#parts.clock();
    if (this.#last === undefined || now - this.#last.at >= OUTLOOK_MS)
      this.#last = { at: now, outlook: this.#ask(now), promised: 0 };
    return this.#last;
  }

  async #accounts({ number }: Pick<Head, "number">): Promise<AccountOutlook[]> {
    const { chain, relayer } = this.#parts;
    const look = async ([address, fault]: readonly [string, SignerErrorCode | undefined]) => ({
      address,
      fault,
      balance: await chain.balance(address, number),
    });
    return Promise.all([...(await relayer.checkSigners())].map(look));
  }

  async #ask(now: number): Promise<Outlook> {
    const { chain, store, market } = this.#parts;
    const head = await chain.head();
    const [price, data, accounts, gasToday, commitments, silence] = await Promise.all([
      market.current(head),
      market.sampleCost(),
      this.#accounts(head),
      store.gasToday(),
      store.commitments(),
      store.sinceLastRound(),
    ]);
    // A service that has just started may still be reading the chain, so the time without a round counts from its
    // start.
    const running = now - this.#startedAt;
    return {
      fees: price,
      data,
      accounts,
      gasToday,
      commitments,
      now,
      headAge: now - head.timestamp * 1000,
      silence: Math.min(running, silence ?? running),
    };
  }
}
