// Month addresses of a merchant of this checkout, whose keys are at hand. Merchants use `sotto address schedule`.
import {
  type AddressesOptions,
  type AddressesWallet,
  type BoundWallet,
  type LookupSigner,
  signAddresses,
  signBinding,
} from "@sotto/client";
import {
  addMonths,
  type Deployment,
  type Month,
  type MonthAddresses,
  monthAt,
  monthRange,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";
import type { PaywallRecipient } from "@sotto/resource-server";
import { type ViewingKeysOptions, viewingKeysOf } from "@sotto/wallet";
import type { TypedDataSigner } from "./prepaid-keys.ts";

export type { AddressesOptions };

/** A wallet, or the keys of one. */
export interface MonthOwner extends AddressesWallet, BoundWallet {
  viewingKeys(options: ViewingKeysOptions): ViewingKeys;
}

/** The keys of a wallet that is not open. */
export const ownerOf = (keys: WalletKeys, pool: Deployment, now: () => number = Date.now): MonthOwner => ({
  pool,
  now,
  shieldedAddress: keys.shieldedAddress(),
  addressOfMonth: (month) => keys.ofMonth(month).shieldedAddress,
  viewingKeys: (options) => viewingKeysOf(keys, options),
});

const signerOf = (account: TypedDataSigner): LookupSigner => ({
  getAddress: async () => account.address,
  signTypedData: (...data) => account.signTypedData(...data),
});

/** Addresses of the last month, whose payments may still arrive, of this month and of the next eleven. */
export const createAddresses = (
  owner: AddressesWallet,
  account: TypedDataSigner,
  options: AddressesOptions = {},
): Promise<MonthAddresses> => {
  const firstMonth = addMonths(monthAt(owner.now()), -1);
  return signAddresses(owner, signerOf(account), { firstMonth, months: 13, ...options });
};

/** The lasting address, as a resource server takes it. */
export async function signLasting(owner: BoundWallet, account: TypedDataSigner): Promise<PaywallRecipient> {
  const { binding, signature } = await signBinding(owner, signerOf(account));
  const { wallet, key: shieldedAddress, issuedAt } = binding;
  return { wallet, shieldedAddress, signature, issuedAt };
}

/** This month and the `count` before it. */
export const lastMonths = (now: number, count: number): Month[] =>
  monthRange(addMonths(monthAt(now), -count), monthAt(now));

/** The keys that a server has: those of this month and the one before. */
export const serverKeys = (owner: MonthOwner): ViewingKeys => owner.viewingKeys({ months: lastMonths(owner.now(), 1) });
