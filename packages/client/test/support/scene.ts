import type { Wallet, WalletOptions } from "@sotto/wallet";
import { LocalService } from "../../../wallet/test/support/local-service.ts";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { World } from "../../../wallet/test/support/world.ts";
import type { WrapOptions } from "../../src/fetch/options.ts";
import { Merchant, newIdentity } from "./merchant.ts";

export const ORIGIN = "https://data.example";
/** Base units of the payer's notes. */
const NOTES = [5_000n, 5_000n, 20_000n];

/** A payer and a merchant whose goods cost 10 base units. */
export interface Cast<M extends Merchant> {
  readonly world: World;
  readonly merchant: M;
  readonly payer: Wallet;
}

/**
 * @param openMerchant makes the merchant; its payments go to the wallet `owner`
 * @param shared a world that has another payer already
 */
export async function cast<M extends Merchant>(
  openMerchant: (world: World, owner: Wallet) => Promise<M>,
  changes: Partial<WalletOptions>,
  shared?: World,
): Promise<Cast<M>> {
  const world = shared ?? new World();
  // The first payer always has the same seed, because a merchant signs equal requests once per test run.
  const payer = shared === undefined ? { seed: SEED, ...changes } : changes;
  // No account of this chain is a contract.
  world.chain.validation = `0x${"0".repeat(64)}`;
  const merchant = await openMerchant(world, await world.wallet());
  return { world, merchant, payer: await world.funded(NOTES, payer) };
}

/** A cast with a service. */
export class Scene<M extends Merchant = Merchant> {
  readonly world: World;
  readonly service: LocalService;
  readonly merchant: M;
  payer: Wallet;

  constructor({ world, merchant, payer }: Cast<M>) {
    this.world = world;
    this.service = new LocalService(world);
    this.merchant = merchant;
    this.payer = payer;
  }

  /** Options of `wrapFetch` that pay here, without further methods. */
  terms(changes: Partial<WrapOptions> = {}): WrapOptions {
    return {
      services: ["https://pay.example/zk"],
      maxPerRequest: 10n,
      serviceFetch: this.service.fetch,
      retryDelayMs: 1,
      chainTimeoutMs: 50,
      fundsTimeoutMs: 50,
      ...changes,
    };
  }

  /** Base units that left the payer's wallet. */
  async paid(): Promise<bigint> {
    await this.payer.scan();
    return NOTES.reduce((sum, note) => sum + note, 0n) - this.payer.balance().total;
  }
}

/** A scene with a merchant who sells for private payments only. */
export async function openScene(changes: Partial<WalletOptions> = {}, shared?: World): Promise<Scene> {
  const openMerchant = async (world: World, owner: Wallet) => new Merchant(await newIdentity(world, owner, ORIGIN));
  return new Scene(await cast(openMerchant, changes, shared));
}
