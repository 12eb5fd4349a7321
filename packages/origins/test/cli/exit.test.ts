import { compose, EXIT, exitOf } from "@sotto/cli-kit";
import { assert } from "chai";
import { originCommands } from "../../src/cli.ts";
import { ORIGIN_CLIENT_ERRORS } from "../../src/client.ts";
import { EVIDENCE_ERRORS } from "../../src/evidence.ts";
import { ORIGIN_ERRORS } from "../../src/wallet.ts";

/** Scripts rely on them: they do not change. */
const EXITS = {
  CURATOR_EQUIVOCATED: "invalid",
  CURATOR_FILE_WRONG: "network",
  CURATOR_HEAD_INVALID: "invalid",
  CURATOR_MASK_FALSE: "invalid",
  CURATOR_UNREACHABLE: "network",
  CURATOR_WENT_BACK: "invalid",
  EVIDENCE_INVALID: "invalid",
  EVIDENCE_MALFORMED: "invalid",
  EVIDENCE_NOT_SETTLED: "invalid",
  INVALID_OPTION: "usage",
  ORIGIN_BLOCK_UNKNOWN: "network",
  ORIGIN_CROWD_SMALL: "refused",
  ORIGIN_HEAD_OLD: "network",
  ORIGIN_MIRROR_FAILED: "network",
  ORIGIN_NOT_FOLLOWED: "refused",
  ORIGIN_NOT_IN_SET: "refused",
  ORIGIN_NOT_READY: "refused",
  ORIGIN_REMOVAL_LARGE: "refused",
  ORIGIN_SPEND_UNKNOWN: "refused",
  ORIGIN_TOO_LATE: "refused",
} as const;

describe("exit codes", () => {
  it("assign an exit class to every error code of origins", () => {
    assert.sameMembers(
      Object.keys({ ...ORIGIN_ERRORS, ...ORIGIN_CLIENT_ERRORS, ...EVIDENCE_ERRORS }),
      Object.keys(EXITS),
    );
    const { errors } = compose([originCommands]);
    for (const [code, exit] of Object.entries(EXITS)) assert.equal(exitOf(code, errors), EXIT[exit].code, code);
  });
});
