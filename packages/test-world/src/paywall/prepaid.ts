// Keys of prepaid tokens that the merchant's wallet signed, and packs that are bought with real payments.
import { createHash, randomBytes } from "node:crypto";
import {
  decodeSchedule,
  encodePrepaidHeader,
  encodeSchedule,
  epochOf,
  generatePrepaidKey,
  laterEpoch,
  type PrepaidKey,
  type PrepaidPack,
  prepaidPurchaseTarget,
  prepaidRecoverTarget,
  preparePrepaidPack,
  scheduledKeys,
  scheduleTypedData,
  type WirePrepaidKeyFile,
} from "@sotto/prepaid";
import type { PrepaidOptions } from "@sotto/prepaid/server";
import { parseAddress } from "@sotto/protocol";
import { postAlone } from "@sotto/test-kit/http";
import { headerOf, showing } from "./payments.ts";
import { type MerchantWorld, ORIGIN, PRICE, pay, type Settled } from "./world.ts";

/** The size of every pack in the tests. */
export const COUNT = 100;

/** @param now ms @returns options without `store`: the paywall's own is used */
export async function createPrepaid(
  { merchant, chainId, pool }: MerchantWorld,
  now = Date.now(),
): Promise<PrepaidOptions> {
  const firstEpoch = laterEpoch(epochOf(now), -1);
  const keys: WirePrepaidKeyFile["keys"][number][] = [];
  const rows: PrepaidKey[][] = [];
  for (const later of [0, 1, 2]) {
    const { key, privateKey } = await generatePrepaidKey();
    keys.push({ epoch: laterEpoch(firstEpoch, later), value: String(PRICE), privateKey });
    rows.push([key]);
  }
  const schedule = {
    wallet: parseAddress(merchant.wallet),
    chainId: BigInt(chainId),
    pool: parseAddress(pool),
    origin: ORIGIN,
    firstEpoch,
    values: [PRICE],
    keys: rows,
  };
  const signature = await merchant.sign(scheduleTypedData(schedule));
  return { schedules: [{ schedule: encodeSchedule(schedule), signature }], keys: { version: 1, origin: ORIGIN, keys } };
}

/** A pack before its purchase. */
export interface Pack extends PrepaidPack {
  readonly count: number;
  readonly key: PrepaidKey;
  readonly batch: string;
  readonly target: string;
}

/** @param later how many epochs after the current one its key signs @param now ms */
export function createPack(wire: unknown, later = 0, count = COUNT, now = Date.now()): Pack {
  const { schedules } = wire as { schedules: { schedule: unknown }[] };
  const keys = scheduledKeys(decodeSchedule(schedules[0]!.schedule));
  const { key } = keys.find(({ epoch }) => epoch === laterEpoch(epochOf(now), later))!;
  const pack = preparePrepaidPack(new Uint8Array(randomBytes(32)), key, ORIGIN, count);
  const batch = `0x${createHash("sha256").update(pack.request).digest("hex")}`;
  return { ...pack, count, key, batch, target: prepaidPurchaseTarget({ key: key.id, count, batch }) };
}

export const payFor = (world: MerchantWorld, { target, count }: Pack): Promise<Settled> =>
  pay(world, { target, price: BigInt(count) * PRICE });

export const purchase = (url: string, pack: Pack, payment?: Settled, body: Uint8Array = pack.request) =>
  fetch(`${url}${pack.target}`, {
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      ...(payment === undefined ? {} : showing(headerOf(payment))),
    },
    body: new Uint8Array(body),
  });

/** @param payment undefined asks for a pack that was signed before; then the request has no body */
export const recover = (
  url: string,
  { key, count, batch, request: messages }: Pack,
  payment: Settled | undefined,
  body: Uint8Array | undefined = payment === undefined ? undefined : messages,
) => {
  const target = prepaidRecoverTarget({ key: key.id, count, batch });
  return postAlone(url + target, payment === undefined ? {} : showing(headerOf(payment)), body);
};

export const bytesOf = async (response: Response): Promise<Uint8Array> => new Uint8Array(await response.arrayBuffer());

/** The headers of a pack's tokens. */
export const tokensOf = (pack: Pack, signatures: Uint8Array): Record<string, string>[] =>
  pack.finish(signatures).map((token) => ({ "x-payment-token": encodePrepaidHeader(token) }));
