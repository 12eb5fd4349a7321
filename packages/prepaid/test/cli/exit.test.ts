import { compose, EXIT, exitOf } from "@sotto/cli-kit";
import { expect } from "chai";
import { prepaidCommands } from "../../src/cli.ts";
import { PREPAID_ERRORS } from "../../src/client.ts";

/** Scripts rely on them: they do not change. */
const EXITS = {
  PREPAID_AUDIT_FAILED: "invalid",
  PREPAID_CHANGE_PENDING: "pending",
  PREPAID_CHANGE_REFUSED: "refused",
  PREPAID_KEY_CONFLICT: "refused",
  PREPAID_LIMIT_EXCEEDED: "refused",
  PREPAID_MIRROR_FAILED: "network",
  PREPAID_NOT_OFFERED: "refused",
  PREPAID_PACK_PENDING: "pending",
  PREPAID_PACK_REFUSED: "refused",
  PREPAID_RECEIPT_CONTRADICTED: "invalid",
  PREPAID_RECEIPT_INVALID: "refused",
  PREPAID_SCHEDULE_REFUSED: "refused",
  PREPAID_SIGNATURES_INVALID: "refused",
  PREPAID_STOPPED: "refused",
  PREPAID_TERMS_CONFLICT: "refused",
  PREPAID_TERMS_REFUSED: "refused",
  PREPAID_TOKEN_PENDING: "pending",
  PREPAID_TOKEN_REFUSED: "refused",
  PREPAID_UNREACHABLE: "network",
} as const;

describe("exit codes", () => {
  it("assign an exit class to every error code of prepaid tokens", () => {
    expect(Object.keys(PREPAID_ERRORS)).to.have.members(Object.keys(EXITS));
    const { errors } = compose([prepaidCommands]);
    for (const [code, exit] of Object.entries(EXITS)) expect(exitOf(code, errors), code).to.equal(EXIT[exit].code);
  });
});
