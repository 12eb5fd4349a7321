// Explains errors and what the user of this app can do about them. Loaded when the first error is shown.
import { CLIENT_ERRORS } from "@sotto/client";
import { EVIDENCE_ERRORS } from "@sotto/origins/evidence";
import { ORIGIN_ERRORS } from "@sotto/origins/wallet";
import { PREPAID_ERRORS } from "@sotto/prepaid/client";
import type { ErrorTable } from "@sotto/protocol";
import { WEB_ERRORS } from "../error-definitions.ts";

/** Next steps in this app; the error definitions name those for the command line. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS: "Add funds.",
  INSUFFICIENT_TOKENS: "Get test tokens from the faucet, or deposit less.",
  NOT_APPROVED: "Approve Permit2 for this token from your account, then deposit again.",
  DEPOSIT_REFUSED: "Deposit from another account. A contract account must be deployed and accept the signature.",
  FUNDS_NOT_READY: "Wait until arriving funds are spendable.",
  FUNDS_TIMED_OUT: "Wait until arriving funds are spendable, and try again.",
  MERGE_REQUIRED: "Pay or withdraw less, or withdraw in parts.",
  REQUEST_LIMIT_EXCEEDED: "Raise the limit per payment in the settings.",
  DAY_LIMIT_EXCEEDED: "Raise the limit per day in the settings, or wait until tomorrow (UTC).",
  RECIPIENT_CHANGED: "Ask the merchant through another channel before you accept the new wallet.",
  PHONE_CHANGED: "Ask the holder of the number through another channel before you accept the new wallet.",
  PHONE_UNKNOWN: "Check the number. Its holder has to link it first.",
  PHONE_NUMBER_INVALID: "Enter the number with + and country code.",
  NODE_UNREACHABLE: "The app keeps trying. Check your connection, and that the node is running.",
  NODE_ERROR: "The app keeps trying.",
  NODE_INCONSISTENT: "The app keeps trying. If the error persists, the chain may have been restarted.",
  POOL_NOT_DEPLOYED:
    "The local chain was restarted without its pool: restart the host of this page, which deploys it again.",
  SERVICE_UNREACHABLE: "Check your connection, and that the service is running. Then resume the payment.",
  SERVICE_TIMEOUT: "Try again: this resumes the same payment.",
  SERVICE_REFUSED: "Try again later.",
  SETTLEMENT_PENDING: "Wait, then check the history. To continue, resume the payment.",
  SETTLEMENT_UNKNOWN: "Resume the payment. It is never paid twice.",
  PREPAID_CHANGE_PENDING: "Ask for the change in the wallet's overview. If it does not arrive, try again later.",
  PAID_BUT_REFUSED: "Ask the merchant for a refund; the receipt is the evidence.",
  PAID_BUT_STALE: "Ask the merchant for a refund; the receipt is the evidence.",
  WITHDRAWAL_IN_PROGRESS: "Wait until it is executed; the history shows it.",
  NOTES_APART: "Pay or withdraw less, or in parts: money of different origins is never spent together.",
  ORIGIN_REMOVAL_LARGE: "Ask the curator why, and accept the removal if you agree.",
  CURATOR_UNREACHABLE: "The app keeps trying. Check the curator's address, and that it allows web pages (CORS).",
  INVALID_WORDS: "Check the spelling and the order of all 24 words.",
  INVALID_AMOUNT: "Enter an amount such as 1.25.",
  INVALID_ADDRESS: "Check the address: 0x and 40 hexadecimal digits.",
};

/** A definition's meaning for people, without the sentence about the error's `details`, which is for programs. */
const forPeople = (means: string): string =>
  means.replace(/ (?:Details[:,]|The wallet's error has the detail) .*$/s, "").replaceAll("`", "");

/** @returns undefined for a code that another program chose */
export function explain(code: string): { means: string; next: string | undefined } | undefined {
  const tables: ErrorTable = {
    ...CLIENT_ERRORS,
    ...PREPAID_ERRORS,
    ...EVIDENCE_ERRORS,
    ...ORIGIN_ERRORS,
    ...WEB_ERRORS,
  };
  const definition = Object.hasOwn(tables, code) ? tables[code] : undefined;
  if (definition === undefined) return undefined;
  const own = Object.hasOwn(WEB_ERRORS, code) && typeof definition.remedy === "string" ? definition.remedy : undefined;
  return { means: forPeople(definition.means), next: NEXT_STEPS[code] ?? own };
}
