// Terms of metered routes for a merchant of this checkout, whose account is at hand. Merchants use `sotto prepaid terms`.
import {
  encodeReceiptKeyFile,
  encodeSignedTerms,
  epochOf,
  laterEpoch,
  type MeteredRouteRule,
  type MeteredTerms,
  meteredTermsTypedData,
  meteredValues,
  receiptKeyOf,
  type WireSignedMeteredTerms,
} from "@sotto/prepaid";
import type { MeteredOptions } from "@sotto/prepaid/server";
import { parseAddress } from "@sotto/protocol";
import {
  createPrepaidKeys,
  hasCurrentKeys,
  keptJson,
  type PrepaidFiles,
  type TypedDataSigner,
} from "./prepaid-keys.ts";

/** What the payment method `meteredCredit` of a resource server needs. */
export interface MeteredFiles extends Required<Pick<MeteredOptions, "receiptKeys">> {
  readonly terms: readonly WireSignedMeteredTerms[];
}

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
  const wallet = parseAddress(account.address);
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
}

/**
 * The keys and terms in a file, for a server that is started again and again. Makes new ones if there is no file, if it is for
 * another pool or origin, or if its last month has ended. Another route or price waits until then, because two terms for one month
 * contradict each other: wallets that saw both would pay no more.
 */
export function keptMeteredCredit(
  file: string,
  account: TypedDataSigner,
  { route, ...place }: Pick<MeteredTerms, "chainId" | "pool" | "origin"> & { readonly route: MeteredRouteRule },
): Promise<MeteredCredit> {
  return keptJson<MeteredCredit>(
    file,
    (kept) => hasCurrentKeys(kept.prepaid, place),
    async () => ({
      prepaid: await createPrepaidKeys(account, { ...place, values: meteredValues(route.rule) }),
      metered: await createMeteredTerms(account, { ...place, routes: [route] }),
    }),
  );
}
