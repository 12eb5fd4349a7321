import type { Command } from "../command.ts";
import { exportCommand, restore } from "./backup.ts";
import { deposit } from "./deposit.ts";
import { init } from "./init.ts";
import { limits } from "./limits.ts";
import { payments } from "./payments.ts";
import { link, recipient, resolve } from "./phone.ts";
import { prepaidBuy, prepaidRestore } from "./prepaid-buy.ts";
import { prepaidDrop, prepaidResume } from "./prepaid-decide.ts";
import { prepaidKeys } from "./prepaid-keys.ts";
import { prepaidList } from "./prepaid-list.ts";
import { prepaidPush } from "./prepaid-push.ts";
import { prepaidSign } from "./prepaid-sign.ts";
import { dismiss, purchases, withdrawals } from "./purchases.ts";
import { receipt, receiptCheck } from "./receipt.ts";
import { receive } from "./receive.ts";
import { refund } from "./refund.ts";
import { pay, request } from "./request.ts";
import { send } from "./send.ts";
import { totals, totalsCheck } from "./totals.ts";
import { address, balance, notes } from "./wallet.ts";
import { merge, withdraw } from "./withdraw.ts";

/** All commands, in the order of `sotto --help`. */
export const commands: readonly Command[] = [
  init,
  address,
  deposit,
  balance,
  notes,
  limits,
  pay,
  request,
  send,
  purchases,
  dismiss,
  prepaidBuy,
  prepaidList,
  prepaidResume,
  prepaidDrop,
  prepaidRestore,
  withdraw,
  merge,
  withdrawals,
  recipient,
  link,
  resolve,
  receive,
  payments,
  receipt,
  receiptCheck,
  refund,
  totals,
  totalsCheck,
  prepaidKeys,
  prepaidSign,
  prepaidPush,
  exportCommand,
  restore,
];
