// What gas costs on this chain now, and what the relayer offers for it at most. Chains differ by five orders of magnitude, so
// nothing here is a fixed price: Polygon takes no transaction below 25 gwei for its builder, Base is content with 0.001.
import type { Chain, FeeHistory, Head } from "@sotto/chain";
import { Interface } from "ethers";
import { type FeeCaps, type Fees, feesFor, max, min, replacementFees } from "./fees.ts";
import { PAYMENT_GAS } from "./gas.ts";

/** A predeployed contract of every chain of the OP stack: says what a transaction's data costs on the chain below. */
export const GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000f";
const oracleInterface = new Interface(["function getL1Fee(bytes data) view returns (uint256)"]);

/** Blocks of which the usual price is the middle one. */
const HISTORY_BLOCKS = 20;
/** How long the history is kept, ms: some blocks. */
const HISTORY_MS = 10_000;
/** How long caps are kept, ms: slow changes move them, a short peak does not. */
const CAPS_MS = 3_600_000;
/** The caps that are derived, in multiples of the usual price. */
const FEE_FACTOR = 10n;
const TIP_FACTOR = 3n;
/** A derived cap is never so low that the day's budget would still pay for so many payments: there is nothing to save. */
const CHEAP_PAYMENTS = 1_000n;
/** If neither a node nor the last blocks say what builders ask. */
const DEFAULT_TIP = 1_000_000_000n;

export interface FeeMarketOptions {
  readonly chain: Pick<Chain, "head" | "priorityFee" | "feeHistory" | "code" | "read">;
  /** Wei; undefined: derived from the chain's fee history. */
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
  readonly gasBudgetPerDay: bigint;
  readonly clock: () => number;
}

/** The usual price of gas, wei. */
export interface UsualPrice {
  readonly baseFee: bigint;
  readonly tip: bigint;
}

export class FeeMarket {
  readonly #options: FeeMarketOptions;
  #caps: { readonly value: FeeCaps; readonly until: number } | undefined;
  #history: { readonly value: Promise<FeeHistory>; readonly until: number } | undefined;
  #hasOracle: boolean | undefined;

  constructor(options: FeeMarketOptions) {
    this.#options = options;
  }

  /** What a transaction should offer now; undefined while even the base fee is beyond the cap. */
  async current({ baseFee }: Pick<Head, "baseFee">): Promise<Fees | undefined> {
    const { tip } = await this.#tips();
    return feesFor(baseFee, tip, await this.caps());
  }

  /** What a replacement of `old` must offer, and should; undefined if that is beyond the cap. */
  async replacement(old: Fees, head: Pick<Head, "baseFee">): Promise<Fees | undefined> {
    return replacementFees(old, await this.current(head), await this.caps());
  }

  /** What is offered at most: the settings, or multiples of the usual price. */
  async caps(): Promise<FeeCaps> {
    const { clock } = this.#options;
    if (this.#caps !== undefined && clock() < this.#caps.until) return this.#caps.value;
    try {
      this.#caps = { value: await this.#derive(), until: clock() + CAPS_MS };
    } catch (error) {
      // Those of the last hour do as well.
      if (this.#caps === undefined) throw error;
    }
    return this.#caps.value;
  }

  /** What gas costs in these days. */
  async usualPrice(): Promise<UsualPrice> {
    const { tip, history } = await this.#tips();
    return { baseFee: middle(history.baseFees) ?? (await this.#options.chain.head()).baseFee, tip };
  }

  /**
   * Wei that the data of a transaction costs beside its gas: a quarter more than now, because that price changes until it
   * is mined. 0 on chains that have no such price.
   * @param raw the transaction, hex
   */
  async dataFee(raw: string): Promise<bigint> {
    const { chain } = this.#options;
    this.#hasOracle ??= (await chain.code(GAS_PRICE_ORACLE)) !== "0x";
    if (!this.#hasOracle) return 0n;
    const fee = BigInt(await chain.read(oracleInterface, GAS_PRICE_ORACLE, "getL1Fee", [raw]));
    return fee + fee / 4n;
  }

  async #derive(): Promise<FeeCaps> {
    const { maxFeePerGas, maxPriorityFeePerGas, gasBudgetPerDay } = this.#options;
    const { baseFee, tip } = await this.usualPrice();
    const cheap = max(1n, gasBudgetPerDay / CHEAP_PAYMENTS / PAYMENT_GAS);
    const fee = maxFeePerGas ?? max(cheap, FEE_FACTOR * (baseFee + tip));
    const priority = maxPriorityFeePerGas ?? max(cheap / FEE_FACTOR, TIP_FACTOR * tip);
    return { maxFeePerGas: fee, maxPriorityFeePerGas: min(priority, fee) };
  }

  /** What the node suggests for the builder, and at least what the cheapest transactions of the last blocks paid. */
  async #tips(): Promise<{ tip: bigint; history: FeeHistory }> {
    const [suggested, history] = await Promise.all([this.#options.chain.priorityFee(), this.#blocks()]);
    const paid = middle(history.tips);
    if (suggested === undefined && paid === undefined) return { tip: DEFAULT_TIP, history };
    return { tip: max(suggested ?? 0n, paid ?? 0n), history };
  }

  #blocks(): Promise<FeeHistory> {
    const { chain, clock } = this.#options;
    if (this.#history !== undefined && clock() < this.#history.until) return this.#history.value;
    // Nodes without the method, or without these blocks, are no reason not to send.
    const value = chain.feeHistory(HISTORY_BLOCKS).catch(() => NO_HISTORY);
    this.#history = { value, until: clock() + HISTORY_MS };
    return value;
  }
}

const NO_HISTORY: FeeHistory = { baseFees: [], tips: [] };

const middle = (values: readonly bigint[]): bigint | undefined =>
  values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[Math.floor(values.length / 2)];
