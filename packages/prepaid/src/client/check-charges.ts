import type { PayingWallet } from "@sotto/client";
import { isSameMerchant, MERCHANT_NAMES } from "../core/merchant.ts";
import { MAX_RECEIPTS } from "../core/metered/contradictions.ts";
import { assertList } from "../core/metered/fields.ts";
import { assertSignedReceipt } from "../core/metered/receipt.ts";
import {
  assertMeteredTerms,
  assertUnitCounts,
  type Contradiction,
  contradictions,
  decodeSignedTerms,
  type MeteredTerms,
  meteredRuleHash,
  meteredTermsDigest,
  type PrepaidMerchant,
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
 * @param terms at most 100 of each merchant, of which the caller has verified the wallets' signatures
 * @param counted what the payer counted, for a single receipt
 * @throws SottoError INVALID_ARGUMENT, INVALID_STRING, INVALID_INTEGER
 */
export function checkCharges(
  receipts: readonly SignedReceipt[],
  terms: readonly MeteredTerms[],
  counted?: Readonly<Record<string, bigint | number>>,
): CheckedCharges {
  const given = assertList(receipts, 0, Number.MAX_SAFE_INTEGER, "the receipts").map(assertSignedReceipt);
  const checked = assertList(terms, 0, Number.MAX_SAFE_INTEGER, "the terms").map(assertMeteredTerms);
  const found = byMerchant(given, checked).flatMap(contradictionsOf);
  const counts = counted === undefined ? undefined : assertUnitCounts(counted);
  const rules = new Map(checked.map((each) => [each, each.routes.map(({ rule }) => meteredRuleHash(rule))]));
  const charges = given.map((receipt): CheckedCharge => {
    const own = checked.filter((each) => isSameMerchant(each, receipt.receipt));
    return {
      receipt,
      signed: isSignedReceipt(receipt, own),
      ruleKnown: own.some((each) => rules.get(each)!.includes(receipt.receipt.rule)),
      differing: counts === undefined ? [] : differingUnits(receipt.receipt.units, counts),
    };
  });
  return { charges, contradictions: found };
}

/** What one merchant signed. */
interface Statements {
  readonly receipts: SignedReceipt[];
  readonly terms: MeteredTerms[];
}

/** What each merchant signed: statements of two merchants contradict nothing. */
function byMerchant(receipts: readonly SignedReceipt[], terms: readonly MeteredTerms[]): readonly Statements[] {
  const merchants = new Map<string, Statements>();
  const of = (merchant: PrepaidMerchant) => {
    const name = MERCHANT_NAMES.map((field) => merchant[field]).join(" ");
    const known = merchants.get(name) ?? { receipts: [], terms: [] };
    merchants.set(name, known);
    return known;
  };
  for (const receipt of receipts) of(receipt.receipt).receipts.push(receipt);
  for (const each of terms) of(each).terms.push(each);
  return [...merchants.values()];
}

/** Compares many receipts in parts: one contradicts only the terms, and other receipts of its token. */
function contradictionsOf({ receipts, terms }: Statements): readonly Contradiction[] {
  const byToken = new Map<string, SignedReceipt[]>();
  for (const receipt of receipts)
    byToken.set(receipt.receipt.token, [...(byToken.get(receipt.receipt.token) ?? []), receipt]);
  const parts: SignedReceipt[][] = [[]];
  for (const ofToken of byToken.values()) {
    if (parts.at(-1)!.length + ofToken.length > MAX_RECEIPTS) parts.push([]);
    parts.at(-1)!.push(...ofToken);
  }
  return parts.flatMap((part, i) => contradictions(part, terms).filter(({ kind }) => i === 0 || kind !== "terms"));
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
