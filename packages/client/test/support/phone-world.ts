import { MemoryStore, type Store } from "@sotto/wallet";
import { Wallet as Account } from "ethers";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { World } from "../../../wallet/test/support/world.ts";
import { phonePin } from "../../src/phone/pins.ts";
import { type ResolveOptions, resolvePhone } from "../../src/phone/resolve.ts";
import { LyingRegistry, PHONE, withoutWallets } from "./phone-registry.ts";

/** The next holder of the number: the new owner of the SIM card, or a thief. */
export const other = Account.createRandom();
export const otherWallet = other.address.toLowerCase();

export type PhoneWorld = Awaited<ReturnType<typeof openPhoneWorld>>;

/** A registry that knows one number, and a wallet that looks it up. */
export async function openPhoneWorld() {
  const world = new World();
  /** The same wallet with a new store. */
  const open = (store: Store) => world.wallet({ chain: withoutWallets(world.chain), store, seed: SEED });
  const registry = await LyingRegistry.open();
  registry.serve();
  const wallet = await open(new MemoryStore());
  const resolve = (options: ResolveOptions = {}, from = registry) =>
    resolvePhone(wallet, from.client(), PHONE, options);
  /** The address that the number is pinned to. */
  const pinned = async () => (await phonePin(wallet.store, PHONE))?.wallet;
  /** Advances the wallet's clock. */
  const pass = (seconds: number) => {
    world.chain.time += seconds;
  };
  return { registry, wallet, open, resolve, pinned, pass };
}
