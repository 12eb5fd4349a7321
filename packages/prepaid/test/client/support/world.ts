import { type PayingFetch, type WrapOptions, wrapFetch } from "@sotto/client";
import type { WalletOptions } from "@sotto/wallet";
import { cast, ORIGIN, Scene } from "../../../../client/test/support/scene.ts";
import type { World } from "../../../../wallet/test/support/world.ts";
import { buyPrepaid } from "../../../src/client/buy.ts";
import { listPrepaid, type PrepaidOrigin } from "../../../src/client/list.ts";
import { prepaid } from "../../../src/client/method.ts";
import type { PrepaidOptions } from "../../../src/client/options.ts";
import { PrepaidMerchant } from "./merchant.ts";

export { ORIGIN };

/** A payer and a merchant that sells prepaid tokens of 10 base units. */
export class PrepaidWorld extends Scene<PrepaidMerchant> {
  /** @param shared a world that has another payer already */
  static async open(changes: Partial<WalletOptions> = {}, shared?: World): Promise<PrepaidWorld> {
    return new PrepaidWorld(await cast((world, owner) => PrepaidMerchant.open(world, owner, ORIGIN), changes, shared));
  }

  options(settings: Partial<PrepaidOptions> = {}, changes: Partial<WrapOptions> = {}): WrapOptions {
    const tokens = { maxPerHost: 30_000n, mirrors: [], fetch: this.merchant.fetch, buy: false, ...settings };
    return this.terms({ methods: [prepaid(tokens)], ...changes });
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
}
