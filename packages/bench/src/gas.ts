// `pnpm bench gas`: gas of each transaction of the pool on a local chain, with the verifiers of this tree.
import { measureGas } from "@sotto/test-pool/hardhat/gas";
import { estimatedSizeScaled, type L1Prices, l1Fee } from "./inputs/l1-fee.ts";
import type { Print } from "./main.ts";

export const about =
  "gas of settle, append, deposit and withdraw, each after the pool's first use; calldata and L1 data fee of a payment";

/** OP Mainnet's scalars since the Fjord upgrade, with an L1 base fee of 1 gwei and blobs at 0.01 gwei. */
const PRICES: L1Prices = {
  baseFee: 1_000_000_000n,
  blobBaseFee: 10_000_000n,
  baseFeeScalar: 5_227n,
  blobBaseFeeScalar: 1_014_213n,
};

/** Number of leaves that one payment queues; one append moves up to 64. */
const LEAVES_PER_PAYMENT = 2;

export async function run(print: Print): Promise<void> {
  const figures = await measureGas();
  const print1 = (name: keyof typeof figures) => print(`gas.${name}`, figures[name].gas, "gas");
  print1("settle.1");
  print1("settle.1.reused");
  print("gas.settle.8.each", figures["settle.8"].gas / 8, "gas");
  print("gas.settle.64.each", figures["settle.64"].gas / 64, "gas");
  print1("append.64");
  print1("deposit.approve");
  print1("deposit.eip3009");
  print1("withdraw.8");
  const share = (figures["append.64"].gas * LEAVES_PER_PAYMENT) / 64;
  print("gas.payment.total", figures["settle.1"].gas + share, "gas");
  for (const count of [1, 64] as const) {
    const { calldata, transaction } = figures[`settle.${count}`];
    const each = count === 1 ? "" : ".each";
    print(`gas.settle.${count}.calldata${each}`, calldata / count, "bytes");
    print(`gas.settle.${count}.l1Size${each}`, Number(estimatedSizeScaled(transaction)) / 1e6 / count, "bytes");
    print(`gas.settle.${count}.l1Fee${each}`, Number(l1Fee(transaction, PRICES)) / 1e9 / count, "gwei");
  }
}
