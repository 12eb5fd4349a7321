// The current gas price and the maximum that the relayer offers. Prices of chains differ by five orders of magnitude (Polygon
// requires a priority fee of 25 gwei, Base accepts 0.001 gwei), so all limits derive from the chain's own prices.
import type { Chain, FeeHistory, Head } from "@sotto/chain";
import { Interface } from "ethers";
import { type FeeCaps, type Fees, feesFor, max, min, replacementFees } from "./fees.ts";
import { PAYMENT_GAS, SAMPLE_TRANSACTION } from "./gas.ts";

/**
 * Predeployed contracts, which return the fee for a transaction's data on the parent chain: that of OP stack chains, and that
 * of Scroll.
 */
export const GAS_PRICE_ORACLES: readonly string[] = [
  "0x420000000000000000000000000000000000000f",
  "0x5300000000000000000000000000000000000002",
];
const oracleInterface = new Interface(["function getL1Fee(bytes data) view returns (uint256)"]);

/** On Arbitrum, the precompile ArbGasInfo has this code, and gas includes what a transaction's data costs on the parent chain. */
export const ARBITRUM_PRECOMPILE = { address: "0x000000000000000000000000000000000000006c", code: "0xfe" };
/** A contract of Arbitrum's nodes, which exists in their `eth_call` only. */
export const NODE_INTERFACE = "0x00000000000000000000000000000000000000c8";
const nodeInterface = new Interface([
  "function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64, uint256, uint256)",
]);

/** The usual price is the median of this many blocks. */
const HISTORY_BLOCKS = 20;
/** How long the fee history is cached, ms. */
const HISTORY_MS = 10_000;
/** How long caps are cached, ms: they follow slow changes, not short peaks. */
const CAPS_MS = 3_600_000;
/** Derived caps, in multiples of the usual price. */
const FEE_FACTOR = 10n;
const TIP_FACTOR = 3n;
/** A derived cap allows every price at which the day's budget pays for this many payments. */
const CHEAP_PAYMENTS = 1_000n;
/** Used if neither the node nor the last blocks provide a priority fee. */
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

/** How a chain charges for a transaction's data on its parent chain. */
type DataModel =
  | { readonly kind: "none" }
  | { readonly kind: "gas" }
  | { readonly kind: "fee"; readonly oracle: string };

/** What a transaction's data costs on the parent chain. */
export interface DataCost {
  /** Units of gas: on Arbitrum, a part of the transaction's gas; otherwise 0. */
  readonly gas: bigint;
  /** Wei in addition to the gas: on OP stack chains and Scroll; otherwise 0. */
  readonly fee: bigint;
}

/** The price on the parent chain can rise until the transaction is mined. */
const withReserve = (cost: bigint): bigint => cost + cost / 4n;

export class FeeMarket {
  #options: FeeMarketOptions;
  #caps: { readonly value: FeeCaps; readonly until: number } | undefined;
  /** The lowest priority fee that nodes accept, as far as their refusals said. */
  #lowestTip: { readonly value: bigint; readonly until: number } | undefined;
  #history: { readonly value: Promise<FeeHistory>; readonly until: number } | undefined;
  /** Undefined until it is known. */
  #dataModel: DataModel | undefined;

  constructor(options: FeeMarketOptions) {
    this.#options = options;
  }

  /** Uses these limits from now on. */
  configure(limits: Pick<FeeMarketOptions, "maxFeePerGas" | "maxPriorityFeePerGas" | "gasBudgetPerDay">): void {
    const { maxFeePerGas, maxPriorityFeePerGas, gasBudgetPerDay } = limits;
    this.#options = { ...this.#options, maxFeePerGas, maxPriorityFeePerGas, gasBudgetPerDay };
    this.#caps = undefined;
  }

  /** The fees that a transaction should offer now; undefined while the base fee exceeds the cap. */
  async current({ baseFee }: Pick<Head, "baseFee">): Promise<Fees | undefined> {
    const { tip } = await this.#tips();
    return feesFor(baseFee, tip, await this.caps());
  }

  /** The fees of a replacement for `old`; undefined if they exceed the cap. */
  async replacement(old: Fees, head: Pick<Head, "baseFee">): Promise<Fees | undefined> {
    return replacementFees(old, await this.current(head), await this.caps());
  }

  /** The maximum fees: from the settings, or multiples of the usual price. */
  async caps(): Promise<FeeCaps> {
    const { clock } = this.#options;
    if (this.#caps !== undefined && clock() < this.#caps.until) return this.#caps.value;
    const options = this.#options;
    try {
      const value = await this.#derive();
      // Other limits may have been configured meanwhile.
      if (options !== this.#options) return this.caps();
      this.#caps = { value, until: clock() + CAPS_MS };
    } catch (error) {
      // If the nodes do not answer, the caps of the last hour remain in use.
      if (this.#caps === undefined) throw error;
    }
    return this.#caps.value;
  }

  /**
   * Offers at least this priority fee, wei, for an hour: some chains require more than their nodes suggest. The configured
   * cap still limits it.
   */
  requireTip(wei: bigint): void {
    if (wei <= this.#requiredTip()) return;
    this.#lowestTip = { value: wei, until: this.#options.clock() + CAPS_MS };
    this.#caps = undefined;
  }

  #requiredTip(): bigint {
    const { value, until } = this.#lowestTip ?? { value: 0n, until: 0 };
    return this.#options.clock() < until ? value : 0n;
  }

  /** The current usual gas price. */
  async usualPrice(): Promise<UsualPrice> {
    const { tip, history } = await this.#tips();
    return { baseFee: middle(history.baseFees) ?? (await this.#options.chain.head()).baseFee, tip };
  }

  /**
   * The fee in wei for a transaction's data on the parent chain, in addition to its gas, plus a quarter. 0 on chains without
   * such a fee.
   * @param raw the transaction, hex
   */
  async dataFee(raw: string): Promise<bigint> {
    const model = await this.#model();
    if (model.kind !== "fee") return 0n;
    return withReserve(BigInt(await this.#options.chain.read(oracleInterface, model.oracle, "getL1Fee", [raw])));
  }

  /**
   * The part of a transaction's gas that pays for its data on the parent chain, plus a quarter. 0 on chains where gas pays for
   * execution only.
   * @param data its calldata, hex
   */
  async dataGas(to: string, data: string): Promise<bigint> {
    if ((await this.#model()).kind !== "gas") return 0n;
    const values = [to, false, data];
    return withReserve(
      BigInt(await this.#options.chain.read(nodeInterface, NODE_INTERFACE, "gasEstimateL1Component", values)),
    );
  }

  /** What the data of a single payment, deposit or withdrawal costs. */
  async sampleCost(): Promise<DataCost> {
    const [gas, fee] = await Promise.all([
      this.dataGas(NODE_INTERFACE, SAMPLE_TRANSACTION),
      this.dataFee(SAMPLE_TRANSACTION),
    ]);
    return { gas, fee };
  }

  async #model(): Promise<DataModel> {
    this.#dataModel ??= await this.#findModel();
    return this.#dataModel;
  }

  async #findModel(): Promise<DataModel> {
    const { chain } = this.#options;
    // This is asked only once, so `head` first finds a node that is not behind: an old state could lack the oracle.
    const { number } = await chain.head();
    for (const oracle of GAS_PRICE_ORACLES)
      if ((await chain.code(oracle, number)) !== "0x") return { kind: "fee", oracle };
    const { address, code } = ARBITRUM_PRECOMPILE;
    return { kind: (await chain.code(address, number)) === code ? "gas" : "none" };
  }

  async #derive(): Promise<FeeCaps> {
    const { maxFeePerGas, maxPriorityFeePerGas, gasBudgetPerDay } = this.#options;
    const { baseFee, tip } = await this.usualPrice();
    const cheap = max(1n, gasBudgetPerDay / CHEAP_PAYMENTS / PAYMENT_GAS);
    const fee = maxFeePerGas ?? max(cheap, FEE_FACTOR * (baseFee + tip));
    const priority = maxPriorityFeePerGas ?? max(cheap / FEE_FACTOR, TIP_FACTOR * tip);
    return { maxFeePerGas: fee, maxPriorityFeePerGas: min(priority, fee) };
  }

  /**
   * The priority fee: the node's suggestion, but at least what the cheapest transactions of the last blocks paid, and what a
   * node required.
   */
  async #tips(): Promise<{ tip: bigint; history: FeeHistory }> {
    const [suggested, history] = await Promise.all([this.#options.chain.priorityFee(), this.#blocks()]);
    const paid = middle(history.tips);
    const usual = suggested === undefined && paid === undefined ? DEFAULT_TIP : max(suggested ?? 0n, paid ?? 0n);
    return { tip: max(usual, this.#requiredTip()), history };
  }

  #blocks(): Promise<FeeHistory> {
    const { chain, clock } = this.#options;
    if (this.#history !== undefined && clock() < this.#history.until) return this.#history.value;
    // A node without the method, or without these blocks, must not prevent sending.
    const value = chain.feeHistory(HISTORY_BLOCKS).catch(() => NO_HISTORY);
    this.#history = { value, until: clock() + HISTORY_MS };
    return value;
  }
}

const NO_HISTORY: FeeHistory = { baseFees: [], tips: [] };

const middle = (values: readonly bigint[]): bigint | undefined =>
  values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[Math.floor(values.length / 2)];
