// The story, in the order in which it is played.
import type { Step } from "./step.ts";
import { appendQueue } from "./steps/append.ts";
import { deposit } from "./steps/deposit.ts";
import { merge } from "./steps/merge.ts";
import { pay } from "./steps/pay.ts";
import { payAgain } from "./steps/pay-again.ts";
import { read } from "./steps/read.ts";
import { restore } from "./steps/restore.ts";
import { settle } from "./steps/settle.ts";
import { withdraw } from "./steps/withdraw.ts";

export const story: readonly Step[] = [
  deposit,
  appendQueue("the deposit"),
  pay,
  settle,
  appendQueue("the payment and its change"),
  read,
  restore,
  payAgain,
  appendQueue("the second payment and its change"),
  merge,
  appendQueue("the merged note"),
  withdraw,
  appendQueue("what the merchant kept"),
];
