// Terms of metered routes for a merchant of this checkout, whose account is at hand. Merchants use `sotto prepaid terms`.
import {
  encodeReceiptKeyFile,
  encodeSignedTerms,
  epochOf,
  laterEpoch,
  type MeteredTerms,
  meteredTermsTypedData,
  receiptKeyOf,
} from "@sotto/prepaid";
import type { MeteredOptions } from "@sotto/prepaid/server";
import type { TypedDataSigner } from "./prepaid-keys.ts";

/** What the payment method `meteredCredit` of a resource server needs. */
export type MeteredFiles = Required<Pick<MeteredOptions, "terms" | "receiptKeys">>;

/** Generates the receipt keys of this month and the following ones, and signs the terms. @param epochs 1 to 12 months */
export async function createMeteredTerms(
  account: TypedDataSigner,
  place: Pick<MeteredTerms, "chainId" | "pool" | "origin" | "routes">,
  epochs = 2,
): Promise<MeteredFiles> {
  const { origin } = place;
  const firstEpoch = epochOf(Date.now());
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
