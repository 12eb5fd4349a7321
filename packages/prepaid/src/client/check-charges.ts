import type { PayingWallet } from "@sotto/client";
import { isSameMerchant } from "../core/merchant.ts";
import {
  assertUnitCounts,
  type Contradiction,
  contradictions,
  decodeSignedTerms,
  type MeteredTerms,
  meteredRuleHash,
  meteredTermsDigest,
  parseReceipt,
  type SignedMeteredTerms,
  type SignedReceipt,
  type UnitCounts,
} from "../index.ts";
import { type PrepaidBook, prepaidBookOf } from "./book.ts";
import { chargesIn } from "./metered/book.ts";
import { isSignedReceipt } from "./metered/check-receipt.ts";
import type { Proof } from "./records.ts";

/** A receipt as it was checked. */
export interface CheckedCharge {
  readonly receipt: SignedReceipt;
  /** Whether a receipt key of the terms signed it: only then it proves anything. */
  readonly signed: boolean;
  /** Whether the terms have the rule by which it charges. */
  readonly ruleKnown: boolean;
  /** The units that differ from the counts of the payer. */
  readonly differing: readonly string[];
}

/** Receipts with what they contradict. */
export interface CheckedCharges {
  readonly charges: readonly CheckedCharge[];
  /** What convicts a merchant: statements that cannot all be honest. */
  readonly contradictions: readonly Contradiction[];
}

/**
 * Checks receipts of metered requests without a network: signature, charge against rule and units, and everything against everything
 * else.
 * @param terms of which the caller has verified the wallets' signatures
 * @param counted what the payer counted, for a single receipt
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_INTEGER
 */
export function checkCharges(
  receipts: readonly SignedReceipt[],
  terms: readonly MeteredTerms[],
  counted?: Readonly<Record<string, bigint | number>>,
): CheckedCharges {
  // Checks the lists first.
  const found = contradictions(receipts, terms);
  const counts = counted === undefined ? undefined : assertUnitCounts(counted);
  const charges = receipts.map((receipt): CheckedCharge => {
    const own = terms.filter((each) => isSameMerchant(each, receipt.receipt));
    const rules = own.flatMap(({ routes }) => routes.map(({ rule }) => meteredRuleHash(rule)));
    return {
      receipt,
      signed: isSignedReceipt(receipt, own),
      ruleKnown: rules.some((rule) => rule === receipt.receipt.rule),
      differing: counts === undefined ? [] : differingUnits(receipt.receipt.units, counts),
    };
  });
  return { charges, contradictions: found };
}

const differingUnits = (units: UnitCounts, counts: UnitCounts): readonly string[] =>
  [...new Set([...Object.keys(units), ...Object.keys(counts)])]
    .sort()
    .filter((name) => (units[name] ?? 0n) !== (counts[name] ?? 0n));

/** The receipts that a wallet keeps: those of its charges, and those that were refused. */
export async function keptReceipts(wallet: PayingWallet): Promise<readonly SignedReceipt[]> {
  const refused = refusals(await prepaidBookOf(wallet.store)).flatMap(({ receipts = [] }) => receipts);
  const texts = [...(await chargesIn(wallet.store)).map(({ receipt }) => receipt), ...refused];
  return [...new Set(texts)].map(parseReceipt);
}

/**
 * The signed terms that a wallet keeps: those that it has pinned, and those that contradict them. It has verified their signatures.
 */
export async function keptTerms(wallet: PayingWallet): Promise<readonly SignedMeteredTerms[]> {
  const book = await prepaidBookOf(wallet.store);
  const refused = refusals(book).flatMap(({ terms = [] }) => terms.map(decodeSignedTerms));
  const byDigest = new Map(
    [...book.metered.allTerms(), ...refused].map((each) => [meteredTermsDigest(each.terms), each]),
  );
  return [...byDigest.values()];
}

/** What merchants signed and the wallet refused, by stops and by single requests. */
const refusals = (book: PrepaidBook): readonly Proof[] => [
  ...book.origins().flatMap((origin) => book.origin(origin).stopped ?? []),
  ...book.metered.requests().flatMap(({ proof }) => proof ?? []),
];
