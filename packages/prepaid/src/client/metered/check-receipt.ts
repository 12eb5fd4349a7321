import { SottoError } from "@sotto/protocol";
import {
  type ChargeReceipt,
  changeOf,
  chargeOf,
  type MeteredRule,
  type MeteredTerms,
  receiptKeyOfEpoch,
  type SignedReceipt,
  verifyReceipt,
} from "../../index.ts";
import { monthsAround } from "./months.ts";

/** What a receipt must be about. */
export interface ExpectedReceipt {
  /** `tokenIdHash`, hex with 0x. */
  readonly token: string;
  readonly method: string;
  readonly target: string;
  /** Hash of the rule, hex with 0x. */
  readonly rule: string;
  /** When the token was shown, ms. */
  readonly at: number;
}

/** Whether a receipt key of the terms signed a receipt. @param terms of its merchant */
export const isSignedReceipt = (receipt: SignedReceipt, terms: readonly MeteredTerms[]): boolean =>
  terms.some((each) => {
    const key = receiptKeyOfEpoch(each, receipt.receipt.epoch);
    return key !== undefined && verifyReceipt(receipt, key);
  });

/** Why charge or change of a receipt do not follow from its rule; undefined if they do. */
export function wrongCharge({ units, charge, change }: ChargeReceipt, rule: MeteredRule): string | undefined {
  if (charge + change !== rule.cap) return `charge and change are not ${rule.cap}, the cap`;
  // A failed request costs nothing.
  if (charge === 0n) return undefined;
  try {
    const due = chargeOf(rule, units);
    if (charge !== due) return `it charges ${charge} base units, but its units cost ${due} base units`;
    changeOf(rule, charge);
    return undefined;
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    return error.message;
  }
}

/** Why a receipt is not about this request; undefined if it is. */
export function otherRequest({ receipt }: SignedReceipt, expected: ExpectedReceipt): string | undefined {
  const field = (["token", "method", "target", "rule"] as const).find((name) => receipt[name] !== expected[name]);
  if (field !== undefined) return `its ${field} is not the request's`;
  // The server's clock may differ, and the request may have waited.
  return monthsAround(expected.at).includes(receipt.epoch)
    ? undefined
    : `its month is ${receipt.epoch}, which is not the request's`;
}
