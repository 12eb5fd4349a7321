import type { Wallet, WalletOptions } from "@sotto/wallet";
import { LocalService } from "../../../wallet/test/support/local-service.ts";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { World } from "../../../wallet/test/support/world.ts";
import type { PayingFetch, WrapOptions } from "../../src/fetch/options.ts";
import { wrapFetch } from "../../src/fetch/wrap.ts";
import { buyPrepaid } from "../../src/prepaid/buy.ts";
import { listPrepaid, type PrepaidOrigin } from "../../src/prepaid/list.ts";
import { prepaid } from "../../src/prepaid/method.ts";
import type { PrepaidOptions } from "../../src/prepaid/options.ts";
import { PrepaidMerchant } from "./prepaid-merchant.ts";

export const ORIGIN = "https://data.example";
/** Base units of the payer's notes. */
const NOTES = [5_000n, 5_000n, 20_000n];

/** A payer and a merchant that sells prepaid tokens of 10 base units. */
export class PrepaidWorld {
  readonly world: World;
  readonly service: LocalService;
  readonly merchant: PrepaidMerchant;
  payer: Wallet;

  private constructor(world: World, merchant: PrepaidMerchant, payer: Wallet) {
    this.world = world;
    this.service = new LocalService(world);
    this.merchant = merchant;
    this.payer = payer;
  }

  /** @param shared a world that has another payer already */
  static async open(changes: Partial<WalletOptions> = {}, shared?: World): Promise<PrepaidWorld> {
    const world = shared ?? new World();
    // The first payer always has the same seed, because the merchant signs equal requests once per test run.
    const payer = shared === undefined ? { seed: SEED, ...changes } : changes;
    // No account of this chain is a contract.
    world.chain.validation = `0x${"0".repeat(64)}`;
    const merchant = await PrepaidMerchant.open(world, await world.wallet(), ORIGIN);
    return new PrepaidWorld(world, merchant, await world.funded(NOTES, payer));
  }

  options(settings: Partial<PrepaidOptions> = {}, changes: Partial<WrapOptions> = {}): WrapOptions {
    return {
      services: ["https://pay.example/zk"],
      maxPerRequest: 10n,
      serviceFetch: this.service.fetch,
      retryDelayMs: 1,
      chainTimeoutMs: 50,
      fundsTimeoutMs: 50,
      methods: [prepaid({ maxPerHost: 30_000n, mirrors: [], fetch: this.merchant.fetch, buy: false, ...settings })],
      ...changes,
    };
  }

  wrap(settings: Partial<PrepaidOptions> = {}, changes: Partial<WrapOptions> = {}): PayingFetch {
    return wrapFetch(this.merchant.fetch, this.payer, this.options(settings, changes));
  }

  buy(settings: Partial<PrepaidOptions> = {}, changes: Partial<WrapOptions> = {}, signal?: AbortSignal) {
    const wish = { origin: ORIGIN, value: 10n, signal };
    return buyPrepaid(this.merchant.fetch, this.payer, this.options(settings, changes), wish);
  }

  async listed(): Promise<PrepaidOrigin | undefined> {
    return (await listPrepaid(this.payer)).find(({ origin }) => origin === ORIGIN);
  }

  /** The code that stopped prepaid tokens at the merchant. */
  async stop(): Promise<string | undefined> {
    return (await this.listed())?.stopped?.code;
  }

  /** Base units that left the payer's wallet. */
  async paid(): Promise<bigint> {
    await this.payer.scan();
    return NOTES.reduce((sum, note) => sum + note, 0n) - this.payer.balance().total;
  }
}
