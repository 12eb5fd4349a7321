import {
  CIRCUITS,
  decodeShieldedAddress,
  encryptAmount,
  hintOf,
  type Month,
  noteCommitment,
  noteSecrets,
} from "@sotto/protocol";
import type { Payment } from "@sotto/wallet";
import { URL, World } from "./world.ts";

/** Seed of the merchant that is paid late. */
export const SEARCHER = new Uint8Array(32).map((_, i) => 13 * i + 5);
export const MARCH = "2027-03" as Month;

const timeOf = (date: string): number => Date.parse(date) / 1000;

/** A payment of 0 to an address, in place of the one that `payment` makes: no honest program proves it. */
export function paymentOfNothing({ settle, ...payment }: Payment, shieldedAddress: string): Payment {
  const { encryptionKey, ownerTag } = decodeShieldedAddress(shieldedAddress);
  const { R, S } = encryptAmount(encryptionKey, 0n, 77n);
  const { blinding, pad } = noteSecrets(S.x, R.x);
  const words: Partial<Record<string, bigint>> = {
    encryptedAmount: R.x,
    amountHint: hintOf(pad, 0n),
    commitments: noteCommitment({ amount: 0n, ownerTag, blinding }),
  };
  const signals = [...settle.signals];
  for (const { name, offset } of CIRCUITS.payment.publicSignals)
    signals[offset] = String(words[name] ?? signals[offset]);
  return { ...payment, settle: { ...settle, signals } };
}

/**
 * A merchant that a program without months pays: 900 base units to its address of March, in May. The chain is the same in
 * each process that calls this.
 */
export async function paidLate() {
  const world = new World();
  world.chain.time = timeOf("2027-03-10T00:00:00Z");
  const payer = await world.funded([5_000n, 5_000n], { seed: new Uint8Array(32).map((_, i) => 3 * i + 9) });
  const merchant = await world.wallet({ seed: SEARCHER });
  const pay = async (month: Month, amount: bigint) => {
    const recipient = { ...world.recipient(merchant), shieldedAddress: merchant.addressOfMonth(month) };
    world.settle(await payer.pay({ recipient, amount, resourceUrl: URL }));
    await world.append();
  };
  await pay(MARCH, 300n);
  world.chain.time = timeOf("2027-05-20T00:00:00Z");
  world.chain.mine();
  await pay(MARCH, 900n);
  const payNothing = async (month: Month) => {
    const address = merchant.addressOfMonth(month);
    const recipient = { ...world.recipient(merchant), shieldedAddress: address };
    world.settle(paymentOfNothing(await payer.pay({ recipient, amount: 5n, resourceUrl: URL }), address));
    await world.append();
  };
  return { world, payer, merchant, pay, payNothing };
}
