import type { CommandSet } from "@sotto/cli-kit";
import { MAX_AMOUNT } from "@sotto/protocol";
import { chargeEntries, PREPAID_ERRORS, prepaid } from "../client.ts";
import { prepaidAudit } from "./audit.ts";
import { prepaidBuy, prepaidRestore } from "./buy.ts";
import { prepaidCheckReceipt } from "./check-receipt.ts";
import { prepaidDrop, prepaidResume } from "./decide.ts";
import { prepaidKeys } from "./keys.ts";
import { prepaidList } from "./list.ts";
import { prepaidMerge } from "./merge.ts";
import { prepaidPush } from "./push.ts";
import { prepaidSign } from "./sign.ts";
import { prepaidTerms } from "./terms.ts";

/**
 * The commands for prepaid tokens: those of payers, and those of merchants. `pay` and `request` spend the tokens of
 * `prepaid buy`. A command is too short to buy in the background.
 */
export const prepaidCommands: CommandSet = {
  name: "prepaid",
  groups: [
    {
      after: "dismiss",
      commands: [
        prepaidBuy,
        prepaidList,
        prepaidMerge,
        prepaidCheckReceipt,
        prepaidResume,
        prepaidDrop,
        prepaidRestore,
      ],
    },
    { after: "totals check", commands: [prepaidKeys, prepaidTerms, prepaidSign, prepaidPush, prepaidAudit] },
  ],
  errors: PREPAID_ERRORS,
  methods: [prepaid({ maxPerHost: MAX_AMOUNT, mirrors: "services", buy: false })],
  charges: chargeEntries,
};
