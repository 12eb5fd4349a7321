import { expect } from "chai";
import { COMMAND_ERRORS } from "../src/error-definitions.ts";
import { EXIT, exitOf } from "../src/frame/exit.ts";

/** Codes that had an exit class before errors were defined in tables. They do not change. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  usage: [
    "ARTIFACTS_SOURCE_INVALID",
    "ARTIFACT_CHANGED",
    "ARTIFACT_MISSING",
    "ARTIFACT_SET_UNKNOWN",
    "BODY_NOT_REPLAYABLE",
    "BODY_TOO_LARGE",
    "CONFIG_INVALID",
    "CONFIG_MISSING",
    "DEPLOYMENT_INVALID",
    "DEVELOPMENT_KEYS_REFUSED",
    "FETCH_OPTION_INVALID",
    "FILE_EXISTS",
    "FILE_UNREADABLE",
    "INVALID_ADDRESS",
    "INVALID_AMOUNT",
    "INVALID_HEX",
    "INVALID_INTEGER",
    "INVALID_OPTION",
    "INVALID_SHIELDED_ADDRESS",
    "INVALID_STRING",
    "INVALID_WORDS",
    "PHONE_NUMBER_INVALID",
    "PHONE_OPTION_INVALID",
    "POOL_MISMATCH",
    "POOL_NOT_DEPLOYED",
    "PURCHASE_INVALID",
    "SERVICE_NOT_ALLOWED",
    "SERVICE_NOT_SECURE",
    "SET_MISMATCH",
    "STORE_FOREIGN",
    "UNKNOWN_PAYMENT",
    "UNKNOWN_PURCHASE",
    "USAGE",
    "WALLET_EXISTS",
    "WRONG_CHAIN",
  ],
  refused: [
    "ALREADY_REFUNDED",
    "BINDING_EXPIRED",
    "BINDING_FROM_THE_FUTURE",
    "BINDING_INVALID",
    "BINDING_SIGNATURE_INVALID",
    "BINDING_STALE",
    "CHALLENGE_INVALID",
    "CHALLENGE_MISMATCH",
    "CHALLENGE_REDIRECTED",
    "DAY_LIMIT_EXCEEDED",
    "ENDPOINT_NOT_ALLOWED",
    "HOST_LIMIT_EXCEEDED",
    "HOUR_LIMIT_EXCEEDED",
    "NOT_CONFIRMED",
    "NOT_SETTLED",
    "ORIGIN_NOT_SECURE",
    "PAID_BUT_REFUSED",
    "PAID_BUT_STALE",
    "PAYMENT_CLOSED",
    "PAYMENT_INVALID",
    "PAYMENT_REPLACED",
    "PAYMENT_SETTLED",
    "PHONE_ANSWER_INVALID",
    "PHONE_BINDING_EXPIRED",
    "PHONE_BINDING_FOREIGN",
    "PHONE_CHANGED",
    "PHONE_NOT_SIGNED",
    "PHONE_RECIPIENT_MISMATCH",
    "PHONE_ROLLBACK",
    "PHONE_UNKNOWN",
    "PHONE_UNVERIFIED",
    "PROOF_HEADER_TOO_LONG",
    "PURCHASE_FINISHED",
    "PURCHASE_MISMATCH",
    "RECEIPT_IMPOSSIBLE",
    "RECEIPT_SHOWS_DEPOSIT",
    "RECIPIENT_CHANGED",
    "RECIPIENT_NOT_SIGNED",
    "REFUSED",
    "REQUEST_LIMIT_EXCEEDED",
    "RESOURCE_MISMATCH",
    "SERVICE_REFUSED",
    "TOOL_LIMIT_EXCEEDED",
    "TRANSACTION_FAILED",
  ],
  funds: ["INSUFFICIENT_FUNDS", "INSUFFICIENT_TOKENS", "MERGE_REQUIRED"],
  pending: ["FUNDS_NOT_READY", "FUNDS_TIMED_OUT", "PENDING", "SETTLEMENT_PENDING", "SETTLEMENT_UNKNOWN", "TIMED_OUT"],
  network: [
    "ARTIFACT_TOO_LARGE",
    "ARTIFACT_UNREACHABLE",
    "BINDING_UNCHECKED",
    "HOST_UNREACHABLE",
    "NODE_ERROR",
    "NODE_INCONSISTENT",
    "NODE_UNREACHABLE",
    "RANGE_TOO_LARGE",
    "ROOT_MISMATCH",
    "SERVICE_ANSWER_INVALID",
    "SERVICE_REDIRECTED",
    "SERVICE_TIMEOUT",
    "SERVICE_UNREACHABLE",
    "SETTLEMENT_NOT_FOUND",
    "TOKEN_MISMATCH",
  ],
  invalid: [
    "BACKUP_INVALID",
    "RECEIPT_ELSEWHERE",
    "RECEIPT_INVALID",
    "RECEIPT_MALFORMED",
    "RECEIPT_NOT_SETTLED",
    "RECEIPT_OTHER_CHALLENGE",
  ],
  busy: ["PURCHASE_IN_PROGRESS", "STORE_CONFLICT", "WALLET_BUSY"],
  key: ["INVALID_KEY", "KEY_FILE_UNSAFE", "KEY_MISSING"],
  status: ["HTTP_STATUS"],
  interrupted: ["INTERRUPTED"],
};

/** Codes that exited with 1 before that. Codes that stay `failed` are faults of this program or of the machine. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  key: ["ACCOUNT_PUBLIC"],
  usage: [
    "AMOUNT_OUT_OF_BOUNDS",
    "ARTIFACTS_LOCK_INVALID",
    "CHAIN_ID_INVALID",
    "CIRCUIT_UNKNOWN",
    "INVALID_ARGUMENT",
    "INVALID_FIELD_ELEMENT",
    "INVALID_MONTH",
    "INVALID_POINT",
    "LABEL_RESERVED",
    "METHOD_INVALID",
    "METHOD_MISSING",
    "NODE_TOO_OLD",
    "PROVING_KEY_INVALID",
    "REQUEST_NOT_SUPPORTED",
    "SIGNAL_NOT_FREE",
    "UNKNOWN_DEPOSIT",
    "VERIFICATION_KEY_INVALID",
    "WITNESS_GENERATOR_INVALID",
  ],
  refused: [
    "CALL_REVERTED",
    "DEPOSIT_EXPIRED",
    "DEPOSIT_MISMATCH",
    "DEPOSIT_REFUSED",
    "HEADER_TAKEN",
    "INSTRUCTIONS_INVALID",
    "NOT_APPROVED",
    "PAYMENT_DECLINED",
    "SCHEDULE_INVALID",
    "SERVER_CLOCK_WRONG",
    "TERMS_NOT_OFFERED",
    "TREE_FULL",
  ],
  funds: ["INSUFFICIENT_NOTES", "SENDER_UNFUNDED", "SPLIT_IMPOSSIBLE"],
  pending: ["PAID_NOT_TAKEN_YET"],
  network: ["ANSWER_TOO_LARGE", "TOKEN_CLAIMS_INVALID"],
  invalid: [
    "CIPHERTEXT_MISMATCH",
    "INVALID_BUNDLE",
    "INVALID_SIGNATURE",
    "PROOF_AT_INFINITY",
    "PROOF_COORDINATE_RANGE",
    "PROOF_MALFORMED",
    "PROOF_NOT_IN_SUBGROUP",
    "PROOF_NOT_ON_CURVE",
    "SIGNALS_MALFORMED",
    "SIGNAL_RANGE",
  ],
  interrupted: ["ABORTED"],
  busy: ["DEPOSIT_IN_PROGRESS", "WITHDRAWAL_IN_PROGRESS"],
  failed: [
    "ARTIFACT_CACHE_FAILED",
    "CLOCK_WRONG",
    "ENGINE_FAILED",
    "INPUT_INVALID",
    "INVALID_HASH_INPUT",
    "INVALID_LEAF",
    "INVALID_SCALAR",
    "INVALID_STORE_KEY",
    "INVALID_TREE_STATE",
    "INVALID_WITHDRAWAL_INPUTS",
    "LEAF_NOT_FOUND",
    "NOTE_NOT_IN_TREE",
    "PREPARED_PROOF_GONE",
    "PREPARE_UNSUPPORTED",
    "PROOF_HEADER_INVALID",
    "PROOF_HEADER_NOT_JSON",
    "PROOF_MISMATCH",
    "PROOF_SELF_CHECK_FAILED",
    "QUEUE_EMPTY",
    "STORE_CLOSED",
    "STORE_DAMAGED",
    "WALLET_CLOSED",
    "WITNESS_REFUSED",
  ],
};

const byExit = (codes: readonly string[]) => {
  const found: Record<string, string[]> = {};
  for (const code of [...codes].sort()) {
    const exit = COMMAND_ERRORS[code]?.exit ?? "failed";
    found[exit] = [...(found[exit] ?? []), code];
  }
  return found;
};

describe("exit codes", () => {
  it("assign an exit class to every error code of a command", () => {
    const first = new Set(Object.values(FIRST).flat());
    const codes = Object.keys(COMMAND_ERRORS);
    expect(byExit(codes.filter((code) => first.has(code)))).to.deep.equal(FIRST);
    expect(byExit(codes.filter((code) => !first.has(code)))).to.deep.equal(ADDED);
  });

  it("have stable numbers", () => {
    const numbers = Object.fromEntries(Object.entries(EXIT).map(([name, { code }]) => [name, code]));
    expect(numbers).to.deep.equal({
      ok: 0,
      failed: 1,
      usage: 2,
      refused: 3,
      funds: 4,
      pending: 5,
      network: 6,
      invalid: 7,
      busy: 8,
      key: 9,
      status: 10,
      interrupted: 130,
    });
    expect(exitOf("INSUFFICIENT_FUNDS", COMMAND_ERRORS)).to.equal(4);
  });

  it("are 1 for an undefined code", () => {
    for (const code of ["WHATEVER", "toString", "__proto__"]) expect(exitOf(code, COMMAND_ERRORS)).to.equal(1);
  });
});
