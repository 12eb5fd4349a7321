// Checks the options of metered credit as far as possible without the pool's token, and reads its files.
import { assertFields, type FixedQuote, invalidOption, parseInteger } from "@sotto/resource-server";
import {
  decodeReceiptKeyFile,
  decodeSignedTerms,
  MAX_METERED_TERMS,
  MAX_RECEIPT_KEY_FILE_BYTES,
  MAX_SIGNED_TERMS_BYTES,
  type MeteredRule,
  meteredEpochs,
  meteredRuleHash,
  meteredValues,
  receiptKeyOf,
  receiptKeyOfEpoch,
  type SignedMeteredTerms,
  type TermsConflict,
  termsConflict,
  type WireReceiptKeyFile,
  type WireSignedMeteredTerms,
} from "../../index.ts";
import { assertMerchant, decodeOption, type MerchantOptions, readJsonOption } from "../config.ts";
import type { Keyring } from "../keyring.ts";
import type { PrepaidMethod } from "../method.ts";

const FIELDS = ["prepaid", "terms", "receiptKeys", "maxSeconds"];
const [MAX_SECONDS, DEFAULT_SECONDS] = [3_600, 600];

/** Charges what requests use, from prepaid tokens, and gives change. */
export interface MeteredOptions {
  /** The method of prepaid tokens, which must come before this one in the option `methods`. */
  readonly prepaid: PrepaidMethod;
  /** 1 to 4 signed terms of this origin: paths of files, or their content. */
  readonly terms: readonly (string | WireSignedMeteredTerms)[];
  /**
   * The secrets that sign receipts: the path of receipts.json, or its content. Default: none; like a server without `keys`, it
   * serves metered routes, but gives no change.
   */
  readonly receiptKeys?: string | WireReceiptKeyFile;
  /** How long a request may run, seconds, at most 3,600: after that, what was counted is final. Default: 600. */
  readonly maxSeconds?: number;
}

export interface MeteredConfig {
  readonly terms: readonly SignedMeteredTerms[];
  /** The secrets by month; undefined without receipt keys. */
  readonly secrets: ReadonlyMap<string, Uint8Array> | undefined;
  readonly durationMs: number;
}

function parseTerms(option: unknown, where: string, merchant: MerchantOptions): SignedMeteredTerms {
  const content = readJsonOption(option, where, MAX_SIGNED_TERMS_BYTES);
  const signed = decodeOption(where, () => decodeSignedTerms(content));
  assertMerchant(signed.terms, where, merchant);
  return signed;
}

function parseSecrets(
  option: unknown,
  terms: readonly SignedMeteredTerms[],
  origin: string,
): ReadonlyMap<string, Uint8Array> | undefined {
  if (option === undefined) return undefined;
  const content = readJsonOption(option, "metered.receiptKeys", MAX_RECEIPT_KEY_FILE_BYTES);
  const file = decodeOption("metered.receiptKeys", () => decodeReceiptKeyFile(content));
  if (file.origin !== origin)
    throw invalidOption(`metered.receiptKeys are for the origin ${file.origin}, but this paywall has ${origin}`);
  const secrets = new Map(file.keys.map(({ epoch, secret }) => [epoch, secret]));
  for (const [i, { terms: each }] of terms.entries())
    for (const epoch of meteredEpochs(each)) {
      const secret = secrets.get(epoch);
      if (secret === undefined || receiptKeyOf(secret) !== receiptKeyOfEpoch(each, epoch))
        throw invalidOption(
          `metered.receiptKeys lacks the key that metered.terms[${i}] names for ${epoch}; use the receipts.json that ` +
            "`sotto prepaid terms` wrote with these terms",
        );
    }
  return secrets;
}

const differing = ({ routes }: TermsConflict): string =>
  routes === undefined ? "receipt keys" : `rules for ${routes[0].method} ${routes[0].path}`;

/** @throws PaywallError INVALID_OPTION */
export function parseMetered(options: MeteredOptions, merchant: MerchantOptions): MeteredConfig {
  assertFields(options, "metered", FIELDS);
  const { terms, receiptKeys, maxSeconds = DEFAULT_SECONDS } = options;
  if (!Array.isArray(terms) || terms.length === 0 || terms.length > MAX_METERED_TERMS)
    throw invalidOption(`metered.terms must be a list of 1 to ${MAX_METERED_TERMS} signed terms`);
  const parsed = terms.map((one, i) => parseTerms(one, `metered.terms[${i}]`, merchant));
  for (const [i, one] of parsed.entries())
    for (const [j, other] of parsed.slice(0, i).entries()) {
      const conflict = termsConflict(one.terms, other.terms);
      if (conflict !== undefined)
        throw invalidOption(
          `metered.terms[${j}] and metered.terms[${i}] have different ${differing(conflict)} in ${conflict.epoch}; ` +
            "in one month a route has one rule, and receipts have one key",
        );
    }
  return {
    terms: parsed,
    secrets: parseSecrets(receiptKeys, parsed, merchant.origin),
    durationMs: 1_000 * parseInteger(maxSeconds, "metered.maxSeconds", 5, MAX_SECONDS),
  };
}

/**
 * Checks a metered price of the options: the terms of the month list it, and every value of its tokens has a key.
 * @throws PaywallError INVALID_OPTION
 */
export function assertMeteredQuote(
  { name, route }: Pick<FixedQuote, "name" | "route">,
  rule: MeteredRule,
  epoch: string,
  { terms, keyring }: { readonly terms: readonly SignedMeteredTerms[]; readonly keyring: Keyring },
): void {
  const hash = meteredRuleHash(rule);
  const routes = terms.flatMap(({ terms: each }) => (meteredEpochs(each).includes(epoch) ? each.routes : []));
  const isListed = routes.some(
    (each) =>
      meteredRuleHash(each.rule) === hash &&
      (route === undefined || each.path === route.path) &&
      ([undefined, "*", each.method] as unknown[]).includes(route?.method),
  );
  if (!isListed)
    throw invalidOption(
      `${name} is metered, but no signed terms of ${epoch} list this route with this rule; sign terms with \`sotto prepaid sign\``,
    );
  const missing = meteredValues(rule).filter((value) => keyring.at(value, epoch) === undefined);
  if (missing.length > 0)
    throw invalidOption(
      `${name} is metered, so prepaid.schedules must have a key in ${epoch} for each value from its grain to its cap; ` +
        `add keys for ${missing.join(", ")}`,
    );
}
