// Terms of metered routes for a merchant of this checkout, whose account is at hand. Merchants use `sotto prepaid terms`.
import {
  encodeReceiptKeyFile,
  encodeSignedTerms,
  epochOf,
  laterEpoch,
  type MeteredRouteRule,
  type MeteredTerms,
  meteredRuleHash,
  meteredTermsTypedData,
  meteredValues,
  receiptKeyOf,
} from "@sotto/prepaid";
import type { MeteredOptions } from "@sotto/prepaid/server";
import {
  createPrepaidKeys,
  hasCurrentKeys,
  keptJson,
  type PrepaidFiles,
  type TypedDataSigner,
} from "./prepaid-keys.ts";

/** What the payment method `meteredCredit` of a resource server needs. */
export type MeteredFiles = Required<Pick<MeteredOptions, "terms" | "receiptKeys">>;

/**
 * Generates the receipt keys of some months, and signs the terms.
 * @param epochs 1 to 12 months @param firstEpoch default: this month
 */
export async function createMeteredTerms(
  account: TypedDataSigner,
  place: Pick<MeteredTerms, "chainId" | "pool" | "origin" | "routes">,
  epochs = 2,
  firstEpoch = epochOf(Date.now()),
): Promise<MeteredFiles> {
  const { origin } = place;
  const keys = Array.from({ length: epochs }, (_, i) => ({
    epoch: laterEpoch(firstEpoch, i),
    secret: crypto.getRandomValues(new Uint8Array(32)),
  }));
  const wallet = account.address.toLowerCase() as MeteredTerms["wallet"];
  const receiptKeys = keys.map(({ secret }) => receiptKeyOf(secret));
  const terms: MeteredTerms = { ...place, wallet, firstEpoch, receiptKeys };
  const { domain, types, message } = meteredTermsTypedData(terms);
  const signature = await account.signTypedData(domain, types, message);
  return { terms: [encodeSignedTerms({ terms, signature })], receiptKeys: encodeReceiptKeyFile({ origin, keys }) };
}

/** What a server with one metered route needs. */
export interface MeteredCredit {
  readonly prepaid: PrepaidFiles;
  readonly metered: MeteredFiles;
  /** The hash of the route's rule. */
  readonly rule: string;
}

/**
 * The keys and terms in a file, for a server that is started again and again. Makes new ones if there is no file, if it is for
 * another pool, origin or rule, or if its last month has ended.
 */
export function keptMeteredCredit(
  file: string,
  account: TypedDataSigner,
  { route, ...place }: Pick<MeteredTerms, "chainId" | "pool" | "origin"> & { readonly route: MeteredRouteRule },
): Promise<MeteredCredit> {
  const rule = meteredRuleHash(route.rule);
  return keptJson<MeteredCredit>(
    file,
    (kept) => kept.rule === rule && hasCurrentKeys(kept.prepaid, place),
    async () => ({
      prepaid: await createPrepaidKeys(account, { ...place, values: meteredValues(route.rule) }),
      metered: await createMeteredTerms(account, { ...place, routes: [route] }),
      rule,
    }),
  );
}
