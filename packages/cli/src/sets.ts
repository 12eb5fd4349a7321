import type { CommandSet } from "@sotto/cli-kit";
import { privatePayment } from "@sotto/client";
import { MPP_ERRORS } from "@sotto/mpp";
import { MPP_CLIENT_ERRORS, mpp } from "@sotto/mpp/client";
import { originCommands } from "@sotto/origins/cli";
import { prepaidCommands } from "@sotto/prepaid/cli";

/** Pays at servers that speak MPP only. It adds nothing to a request, and x402-zk has precedence where both are offered. */
const mppPayments: CommandSet = {
  name: "mpp",
  groups: [],
  errors: { ...MPP_ERRORS, ...MPP_CLIENT_ERRORS },
  methods: [privatePayment, mpp()],
};

/** What the program `sotto` adds to the commands of every program. */
export const SETS: readonly CommandSet[] = [prepaidCommands, originCommands, mppPayments];
