// Signed schedules. Their keys are random odd numbers, because a mirror never uses them: it only keeps them.
import { randomBytes } from "node:crypto";
import type { Address } from "@sotto/protocol";
import { Wallet } from "ethers";
import {
  encodeSignedSchedule,
  type PrepaidKey,
  type PrepaidSchedule,
  prepaidKey,
  scheduleTypedData,
  type WireSignedSchedule,
} from "../../../src/index.ts";

export const ORIGIN = "https://data.example";

export function newKey(): PrepaidKey {
  const bytes = randomBytes(256);
  bytes[0]! |= 0x80;
  bytes[255]! |= 1;
  return prepaidKey(BigInt(`0x${bytes.toString("hex")}`));
}

/** New keys for a number of epochs and values. */
export const newKeys = (epochs: number, values: number): PrepaidKey[][] =>
  Array.from({ length: epochs }, () => Array.from({ length: values }, newKey));

export interface Merchant {
  readonly wallet: Address;
  /** A schedule of one key, with this change. */
  schedule(change?: Partial<PrepaidSchedule>): PrepaidSchedule;
  sign(schedule: PrepaidSchedule): Promise<WireSignedSchedule>;
}

export function newMerchant({ chainId, pool }: { readonly chainId: number; readonly pool: string }): Merchant {
  const account = Wallet.createRandom();
  const wallet = account.address.toLowerCase() as Address;
  const place = { wallet, chainId: BigInt(chainId), pool: pool as Address, origin: ORIGIN };
  return {
    wallet,
    schedule: (change = {}) => ({ ...place, firstEpoch: "2026-11", values: [1000n], keys: newKeys(1, 1), ...change }),
    async sign(schedule) {
      const { domain, types, message } = scheduleTypedData(schedule);
      return encodeSignedSchedule({ schedule, signature: await account.signTypedData(domain, types, message) });
    },
  };
}
