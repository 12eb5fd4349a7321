import { bytesToHex, hexToBytes, SottoError } from "@sotto/protocol";
import { ED25519_KEY_BYTES, ED25519_SIGNATURE_BYTES, verifyEd25519 } from "../ed25519.ts";
import { isSameMerchant } from "../merchant.ts";
import { assertList } from "./fields.ts";
import { assertSignedReceipt, type ChargeReceipt, receiptMessage, type SignedReceipt } from "./receipt.ts";
import { chargeOf, type MeteredRule, meteredRuleHash } from "./rule.ts";
import {
  assertMeteredTerms,
  type MeteredRouteRule,
  type MeteredTerms,
  meteredEpochs,
  meteredTermsDigest,
  receiptKeyOfEpoch,
  ruleOfRequest,
  termsConflict,
} from "./terms.ts";

/** Maximum number of receipts that are compared at once. */
export const MAX_RECEIPTS = 10_000;
/** Maximum number of terms that are compared at once. */
const MAX_TERMS = 100;

/** Two signed statements of a merchant that cannot both be honest, or one that contradicts itself. */
export type Contradiction =
  | {
      /** Two receipts for one token that differ. */
      readonly kind: "token";
      readonly receipts: readonly [SignedReceipt, SignedReceipt];
    }
  | {
      /** A charge or change that does not follow from rule and units of the receipt. */
      readonly kind: "charge";
      readonly receipt: SignedReceipt;
      /** The rule that the receipt names. */
      readonly rule: MeteredRule;
    }
  | {
      /** A receipt that names another rule than the terms of its month have for the request. */
      readonly kind: "rule";
      readonly receipt: SignedReceipt;
      readonly terms: MeteredTerms;
      /** The rule of the terms. */
      readonly rule: MeteredRule;
    }
  | {
      /** Two terms with different rules for the same requests of one month, or with different receipt keys for it: see `TermsConflict`. */
      readonly kind: "terms";
      readonly terms: readonly [MeteredTerms, MeteredTerms];
      readonly epoch: string;
      /** The routes that contradict each other; undefined if the receipt keys do. */
      readonly routes?: readonly [MeteredRouteRule, MeteredRouteRule] | undefined;
    };

/** The charge that the rule demands; undefined if the rule does not price a unit of the receipt. */
function demanded(rule: MeteredRule, { units }: ChargeReceipt): bigint | undefined {
  try {
    return chargeOf(rule, units);
  } catch (error) {
    if (error instanceof SottoError) return undefined;
    throw error;
  }
}

/** A failed request costs nothing, so a charge of 0 never contradicts a rule. */
const followsRule = (receipt: ChargeReceipt, rule: MeteredRule): boolean =>
  receipt.charge + receipt.change === rule.cap && (receipt.charge === 0n || receipt.charge === demanded(rule, receipt));

/** @param receipts different ones of one merchant */
function doubleReceipts(receipts: readonly SignedReceipt[]): readonly Contradiction[] {
  const firsts = new Map<string, SignedReceipt>();
  const found: Contradiction[] = [];
  for (const receipt of receipts) {
    const { token } = receipt.receipt;
    const first = firsts.get(token);
    if (first === undefined) firsts.set(token, receipt);
    else found.push({ kind: "token", receipts: [first, receipt] });
  }
  return found;
}

/**
 * The receipts that the key of their month in one of the terms signed, each once. They are compared without the signature, which
 * does not change what a receipt says.
 * @param terms of the receipts' merchant
 */
function signedReceipts(receipts: readonly SignedReceipt[], terms: readonly MeteredTerms[]): readonly SignedReceipt[] {
  const found = new Map<string, SignedReceipt>();
  for (const each of receipts) {
    const message = receiptMessage(each.receipt);
    const signature = hexToBytes(each.signature, ED25519_SIGNATURE_BYTES);
    const keys = new Set(terms.map((one) => receiptKeyOfEpoch(one, each.receipt.epoch)));
    keys.delete(undefined);
    if ([...keys].some((key) => verifyEd25519(signature, message, hexToBytes(key, ED25519_KEY_BYTES))))
      found.set(bytesToHex(message), each);
  }
  return [...found.values()];
}

/** What one receipt contradicts. @param terms all terms of the receipt's merchant */
function wrongReceipt(receipt: SignedReceipt, terms: readonly MeteredTerms[]): readonly Contradiction[] {
  const { rule: hash, epoch } = receipt.receipt;
  const found: Contradiction[] = [];
  const rule = terms.flatMap(({ routes }) => routes).find((route) => meteredRuleHash(route.rule) === hash)?.rule;
  if (rule !== undefined && !followsRule(receipt.receipt, rule)) found.push({ kind: "charge", receipt, rule });
  for (const each of terms) {
    const signed = meteredEpochs(each).includes(epoch) ? ruleOfRequest(each, receipt.receipt) : undefined;
    if (signed !== undefined && meteredRuleHash(signed) !== hash)
      found.push({ kind: "rule", receipt, terms: each, rule: signed });
  }
  return found;
}

function conflicts(terms: readonly MeteredTerms[]): readonly Contradiction[] {
  return terms.flatMap((one, i) =>
    terms.slice(i + 1).flatMap((other): readonly Contradiction[] => {
      const conflict = termsConflict(one, other);
      return conflict === undefined ? [] : [{ kind: "terms", terms: [one, other], ...conflict }];
    }),
  );
}

/**
 * Finds what convicts a merchant: two receipts for one token, a charge that does not follow from the rule, a receipt that names
 * another rule than the signed terms, and two terms with different rules for one request and month or different receipt keys for
 * one month. A merchant that signs one receipt for each token, charges by its terms and never signs a second rule or receipt key for
 * a month contradicts nothing.
 *
 * Receipts that no receipt key of the terms signed prove nothing and are ignored, as are rules that no terms contain.
 * @param receipts at most 10,000
 * @param terms at most 100, of which the caller has verified each wallet's signature
 * @returns empty if nothing convicts
 * @throws SottoError INVALID_ARGUMENT, INVALID_HEX if a value is malformed
 */
export function contradictions(
  receipts: readonly SignedReceipt[],
  terms: readonly MeteredTerms[],
): readonly Contradiction[] {
  const checked = assertList(terms, 0, MAX_TERMS, "the terms").map(assertMeteredTerms);
  const statements = [...new Map(checked.map((each) => [meteredTermsDigest(each), each])).values()];
  const given = assertList(receipts, 0, MAX_RECEIPTS, "the receipts").map(assertSignedReceipt);
  const merchants = statements.filter((one, i) => statements.findIndex((other) => isSameMerchant(one, other)) === i);
  return merchants.flatMap((merchant) => {
    const own = statements.filter((each) => isSameMerchant(each, merchant));
    const theirs = given.filter(({ receipt }) => isSameMerchant(receipt, merchant));
    const signed = signedReceipts(theirs, own);
    return [...conflicts(own), ...doubleReceipts(signed), ...signed.flatMap((each) => wrongReceipt(each, own))];
  });
}
