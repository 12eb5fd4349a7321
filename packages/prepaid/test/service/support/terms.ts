import type { Address } from "@sotto/protocol";
import { Wallet } from "ethers";
import {
  encodeSignedTerms,
  type MeteredTerms,
  meteredTermsTypedData,
  type WireSignedMeteredTerms,
} from "../../../src/index.ts";
import { RULE, VECTORS } from "../../core/metered/support/samples.ts";
import { ORIGIN } from "./schedules.ts";

const CHAT = { method: "POST", path: "/v1/chat", rule: RULE };
/** The receipt keys of the months from 2026-11 on. */
export const RECEIPT_KEYS = VECTORS.tokens.each.map(({ publicKey }) => publicKey);

export interface TermsMerchant {
  readonly wallet: Address;
  /** Terms of one route and month, with this change. */
  terms(change?: Partial<MeteredTerms>): MeteredTerms;
  sign(terms: MeteredTerms): Promise<WireSignedMeteredTerms>;
}

export function newTermsMerchant({
  chainId,
  pool,
}: {
  readonly chainId: number;
  readonly pool: string;
}): TermsMerchant {
  const account = Wallet.createRandom();
  const wallet = account.address.toLowerCase() as Address;
  const place = { wallet, chainId: BigInt(chainId), pool: pool as Address, origin: ORIGIN };
  const first = { firstEpoch: "2026-11", receiptKeys: RECEIPT_KEYS.slice(0, 1), routes: [CHAT] };
  return {
    wallet,
    terms: (change = {}) => ({ ...place, ...first, ...change }),
    async sign(terms) {
      const { domain, types, message } = meteredTermsTypedData(terms);
      return encodeSignedTerms({ terms, signature: await account.signTypedData(domain, types, message) });
    },
  };
}
