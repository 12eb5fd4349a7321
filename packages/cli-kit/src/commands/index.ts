import type { Command } from "../command.ts";
import { address } from "./address.ts";
import { addressSchedule } from "./address-schedule.ts";
import { audit } from "./audit.ts";
import { exportCommand, restore } from "./backup.ts";
import { deposit } from "./deposit.ts";
import { init } from "./init.ts";
import { limits } from "./limits.ts";
import { payments } from "./payments.ts";
import { link, recipient, resolve } from "./phone.ts";
import { dismiss, purchases, withdrawals } from "./purchases.ts";
import { receipt, receiptCheck } from "./receipt.ts";
import { receive } from "./receive.ts";
import { refund } from "./refund.ts";
import { pay, request } from "./request.ts";
import { scan } from "./scan.ts";
import { send } from "./send.ts";
import { status } from "./status.ts";
import { totals, totalsCheck } from "./totals.ts";
import { auditKey, viewKey } from "./view-key.ts";
import { balance, notes } from "./wallet.ts";
import { merge, withdraw } from "./withdraw.ts";

/** The commands of every program, in the order of `sotto --help`. */
export const COMMANDS: readonly Command[] = [
  init,
  status,
  address,
  addressSchedule,
  deposit,
  balance,
  notes,
  scan,
  limits,
  pay,
  request,
  send,
  purchases,
  dismiss,
  withdraw,
  merge,
  withdrawals,
  recipient,
  link,
  resolve,
  viewKey,
  receive,
  payments,
  receipt,
  receiptCheck,
  refund,
  auditKey,
  audit,
  totals,
  totalsCheck,
  exportCommand,
  restore,
];
