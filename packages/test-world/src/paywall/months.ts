// A merchant with an address of each month, and a chain whose time a test moves to the end of a month.

import {
  addMonths,
  assertMonthAddresses,
  assertSchedule,
  BINDING_SLOT_SECONDS,
  bindingTypedData,
  decodeShieldedAddress,
  deriveKeys,
  type Month,
  type MonthAddresses,
  monthAt,
  monthBindings,
  monthEnd,
  parseAddress,
  randomSeed,
  scheduleTypedData,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { type HDNodeWallet, Wallet } from "ethers";
import { createOwnWorld, openService, type World } from "../service.ts";
import type { Merchant } from "./merchant.ts";
import type { Payee, Place } from "./payments.ts";
import type { MerchantWorld } from "./world.ts";

export interface MonthMerchant extends Merchant {
  readonly account: HDNodeWallet;
  readonly keys: WalletKeys;
  readonly addresses: MonthAddresses;
}

export interface MonthOptions {
  /** Default: this month. */
  readonly firstMonth?: Month;
  readonly months?: number;
  readonly sequence?: number;
  /** Default: those of a new merchant. */
  readonly of?: Pick<MonthMerchant, "account" | "keys">;
  /** Now, ms. */
  readonly now?: number;
}

type TypedData = Parameters<Merchant["sign"]>[0] | ReturnType<typeof scheduleTypedData>;

/** A merchant whose wallet signed its addresses of some months, and its lasting one. */
export async function createMonthMerchant(place: Place, options: MonthOptions = {}): Promise<MonthMerchant> {
  const pool = { chainId: BigInt(place.chainId), pool: parseAddress(place.pool) };
  const { now = Date.now(), firstMonth = monthAt(now), months = 3, sequence = 1 } = options;
  const { account, keys } = options.of ?? { account: Wallet.createRandom(), keys: deriveKeys(randomSeed(), pool) };
  const wallet = parseAddress(account.address);
  const sign = ({ domain, types, message }: TypedData) => account.signTypedData(domain, { ...types }, message);
  const ownerTag = keys.ownerTag(0);
  const issuedAt = Math.floor(now / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;
  const schedule = assertSchedule({
    ...{ wallet, ...pool, ownerTag, sequence, issuedAt, firstMonth },
    keys: Array.from({ length: months }, (_, i) => keys.ofMonth(addMonths(firstMonth, i)).shieldedAddress.slice(0, 66)),
  });
  const signed = monthBindings(schedule).map(async (one) => ({
    ...one,
    signature: await sign(bindingTypedData(one.binding)),
  }));
  const bindings = await Promise.all(signed);
  const addresses = assertMonthAddresses({ schedule, signature: await sign(scheduleTypedData(schedule)), bindings });
  const shieldedAddress = keys.shieldedAddress();
  const lasting = { phone: "", wallet, key: shieldedAddress, ...pool, service: "", issuedAt };
  return {
    ...{ account, keys, addresses, wallet, shieldedAddress, issuedAt, sign },
    shielded: decodeShieldedAddress(shieldedAddress),
    viewingKey: keys.viewingKey,
    signature: await sign(bindingTypedData(lasting)),
  };
}

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
  readonly merchant: MonthMerchant;
  /** The time of chain and service, ms. */
  readonly clock: () => number;
  /** Moves chain and service to a time, ms; only ahead. */
  moveTo(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A chain and a service of its own, a quarter of an hour before the end of this month. */
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
  await moveTo(monthEnd(monthAt(clock())) - 900_000);
  const merchant = await createMonthMerchant(world, { months: 12, now: clock() });
  const service = await openService({}, clock, world);
  const close = async () => {
    await service.close();
    world.provider.destroy();
    await world.node.stop();
  };
  return { ...world, service: service.url, merchant, folder: temporaryFolder("months"), clock, moveTo, close };
}
