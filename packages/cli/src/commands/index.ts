import type { Command } from "../frame/command.ts";
import { deposit } from "./deposit.ts";
import { init } from "./init.ts";
import { payments } from "./payments.ts";
import { receipt, receiptCheck } from "./receipt.ts";
import { receive } from "./receive.ts";
import { totals, totalsCheck } from "./totals.ts";
import { address, balance, notes } from "./wallet.ts";
import { merge, withdraw } from "./withdraw.ts";

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  init,
  address,
  deposit,
  balance,
  notes,
  withdraw,
  merge,
  receive,
  payments,
  receipt,
  receiptCheck,
  totals,
  totalsCheck,
];
