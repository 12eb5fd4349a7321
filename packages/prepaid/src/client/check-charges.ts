import type { PayingWallet } from "@sotto/client";
import {
  assertUnitCounts,
  type Contradiction,
  contradictions,
  type MeteredTerms,
  meteredRuleHash,
  parseReceipt,
  type SignedMeteredTerms,
  type SignedReceipt,
  type UnitCounts,
} from "../index.ts";
import { prepaidBookOf } from "./book.ts";
import { chargesIn } from "./metered/book.ts";
import { isSignedReceipt } from "./metered/check-receipt.ts";

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
    const own = terms.filter(
      ({ wallet, origin }) => wallet === receipt.receipt.wallet && origin === receipt.receipt.origin,
    );
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
  const book = await prepaidBookOf(wallet.store);
  const stops = book.origins().flatMap((origin) => book.origin(origin).stopped?.receipts ?? []);
  const refused = book.metered.requests().flatMap(({ proof }) => proof?.receipts ?? []);
  const texts = [...(await chargesIn(wallet.store)).map(({ receipt }) => receipt), ...stops, ...refused];
  return [...new Set(texts)].map(parseReceipt);
}

/** The signed terms that a wallet has pinned; it verified their signatures. */
export async function keptTerms(wallet: PayingWallet): Promise<readonly SignedMeteredTerms[]> {
  const book = await prepaidBookOf(wallet.store);
  return book.metered.allTerms();
}
