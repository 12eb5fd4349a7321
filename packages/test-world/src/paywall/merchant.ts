import {
  type AddressesOptions,
  createAddresses,
  ownerOf,
  serverKeys,
  signLasting,
} from "@sotto/local/merchant/addresses";
import type { scheduleTypedData } from "@sotto/prepaid";
import {
  type bindingTypedData,
  decodeShieldedAddress,
  deriveKeys,
  type MonthAddresses,
  monthAt,
  parseAddress,
  randomSeed,
  type ShieldedAddress,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";
import type { PaywallRecipient } from "@sotto/resource-server";
import { type HDNodeWallet, Wallet } from "ethers";
import type { Place } from "./payments.ts";

/** EIP-712 typed data of sotto. */
type TypedData = ReturnType<typeof bindingTypedData> | ReturnType<typeof scheduleTypedData>;

/** The recipient: a wallet with its addresses of months. */
export interface Merchant {
  readonly wallet: string;
  readonly account: HDNodeWallet;
  readonly keys: WalletKeys;
  /** What a paywall is opened with. */
  readonly addresses: MonthAddresses;
  /** What a paywall with one lasting address is opened with. */
  readonly lasting: PaywallRecipient;
  /** This month's address. */
  readonly shielded: ShieldedAddress;
  /** The keys of this month and the one before. */
  readonly viewingKeys: ViewingKeys;
  /** Signs with the wallet. */
  sign(data: TypedData): Promise<string>;
}

export interface MerchantOptions extends AddressesOptions {
  /** Default: those of a new merchant. */
  readonly of?: Pick<Merchant, "account" | "keys">;
  /** Now, ms. */
  readonly now?: number;
}

export async function createMerchant({ chainId, pool }: Place, options: MerchantOptions = {}): Promise<Merchant> {
  const deployment = { chainId: BigInt(chainId), pool };
  const { now = Date.now(), of, ...signed } = options;
  const { account, keys } = of ?? { account: Wallet.createRandom(), keys: deriveKeys(randomSeed(), deployment) };
  const owner = ownerOf(keys, deployment, () => now);
  return {
    ...{ account, keys },
    wallet: parseAddress(account.address),
    addresses: await createAddresses(owner, account, signed),
    lasting: await signLasting(owner, account),
    shielded: decodeShieldedAddress(owner.addressOfMonth(monthAt(now))),
    viewingKeys: serverKeys(owner),
    sign: ({ domain, types, message }) => account.signTypedData(domain, types, message),
  };
}
