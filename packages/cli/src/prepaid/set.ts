import type { CommandSet } from "../command.ts";
import { prepaidBuy, prepaidRestore } from "./buy.ts";
import { prepaidDrop, prepaidResume } from "./decide.ts";
import { prepaidKeys } from "./keys.ts";
import { prepaidList } from "./list.ts";
import { prepaidPush } from "./push.ts";
import { prepaidSign } from "./sign.ts";

/** The commands for prepaid tokens: those of payers, and those of merchants. */
export const prepaidCommands: CommandSet = {
  name: "prepaid",
  groups: [
    { after: "dismiss", commands: [prepaidBuy, prepaidList, prepaidResume, prepaidDrop, prepaidRestore] },
    { after: "totals check", commands: [prepaidKeys, prepaidSign, prepaidPush] },
  ],
};
