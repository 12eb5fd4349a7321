import type { CommandSet } from "@sotto/cli-kit";
import { ORIGIN_CLIENT_ERRORS } from "../client.ts";
import { EVIDENCE_ERRORS } from "../evidence.ts";
import { ORIGIN_ERRORS } from "../wallet.ts";
import { originCheck, originEvidence } from "./evidence.ts";
import { originFollow, originUnfollow } from "./follow.ts";
import { createAttend } from "./open.ts";
import { originStatus } from "./status.ts";
import { originSync } from "./sync.ts";

/** The commands for origins. Commands that spend keep notes apart, show origins and take new heads, and only `origin sync` sends claims. */
export const originCommands: CommandSet = {
  name: "origin",
  groups: [
    {
      after: "dismiss",
      commands: [originStatus, originFollow, originUnfollow, originSync, originEvidence, originCheck],
    },
  ],
  errors: { ...ORIGIN_ERRORS, ...ORIGIN_CLIENT_ERRORS, ...EVIDENCE_ERRORS },
  attend: createAttend(),
};
