// A merchant with an address of each month, and a chain whose time a test moves to the end of a month.

import {
  decodeShieldedAddress,
  type Month,
  monthAt,
  monthEnd,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { createOwnWorld, openService, type World } from "../service.ts";
import { createMerchant, type Merchant, type MerchantOptions } from "./merchant.ts";
import type { Payee, Place } from "./payments.ts";
import type { MerchantWorld } from "./world.ts";

const QUARTER_MS = 900_000;

/** A merchant whose wallet signed its addresses of three months, if the options name no others. */
export const createMonthMerchant = (place: Place, options: MerchantOptions = {}): Promise<Merchant> => {
  const firstMonth = monthAt(options.now ?? Date.now());
  return createMerchant(place, { firstMonth, months: 3, sequence: 1, ...options });
};

/** The merchant as the payee of an address. */
export const payeeAt = ({ wallet }: Pick<Merchant, "wallet">, shieldedAddress: string): Payee => ({
  wallet,
  shielded: decodeShieldedAddress(shieldedAddress),
});

/** The viewing keys of months. */
export const keysOfMonths = (keys: WalletKeys, months: readonly Month[]): ViewingKeys => ({
  ownerTag: keys.ownerTag(0),
  keys: months.map((month) => {
    const { viewingKey, shieldedAddress } = keys.ofMonth(month);
    return { month, viewingKey, shieldedAddress };
  }),
});

export interface MonthWorld extends MerchantWorld {
  readonly merchant: Merchant;
  /** The time of chain and service, ms. */
  readonly clock: () => number;
  /** Moves chain and service to a time, ms; only ahead. */
  moveTo(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A chain and a service of its own, a quarter of an hour before the end of a month. */
export async function openMonthWorld(): Promise<MonthWorld> {
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;
  const world: World = await createOwnWorld();
  const moveTo = async (ms: number): Promise<void> => {
    const seconds = Math.ceil((ms - clock()) / 1000);
    if (seconds < 0) throw new Error("a chain's time never goes back");
    aheadMs = ms - Date.now();
    await world.provider.send("evm_increaseTime", [seconds]);
    await world.provider.send("evm_mine", []);
  };
  await moveTo(monthEnd(monthAt(clock() + QUARTER_MS)) - QUARTER_MS);
  const merchant = await createMonthMerchant(world, { months: 12, now: clock() });
  const service = await openService({}, clock, world);
  const close = async () => {
    await service.close();
    world.provider.destroy();
    await world.node.stop();
  };
  return { ...world, service: service.url, merchant, folder: temporaryFolder("months"), clock, moveTo, close };
}
