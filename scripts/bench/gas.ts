// `pnpm bench gas`: gas of each transaction of the pool on a local chain, with the verifiers of this tree.
import { measureGas } from "../../test/contracts/support/gas.ts";
import type { Print } from "./main.ts";

export const about = "gas of settle, append, deposit and withdraw, each after the pool's first use";

/** Number of leaves that one payment queues; one append moves up to 64. */
const LEAVES_PER_PAYMENT = 2;

export async function run(print: Print): Promise<void> {
  const figures = await measureGas();
  const print1 = (name: keyof typeof figures) => print(`gas.${name}`, figures[name].gas, "gas");
  print1("settle.1");
  print1("settle.1.reused");
  print("gas.settle.8.each", figures["settle.8"].gas / 8, "gas");
  print1("append.64");
  print1("deposit.approve");
  print1("deposit.eip3009");
  print1("withdraw.8");
  const share = (figures["append.64"].gas * LEAVES_PER_PAYMENT) / 64;
  print("gas.payment.total", figures["settle.1"].gas + share, "gas");
}
