import { type Month, parseMonth, type ViewingKey, type ViewingKeys, type WalletKeys } from "@sotto/protocol";
import { WalletError } from "../errors.ts";

/** Which viewing keys are given away. */
export interface ViewingKeysOptions {
  /** The months whose addresses the keys read. Default: none. */
  readonly months?: readonly Month[] | undefined;
  /** Whether the key of the lasting address is one of them, which reads it forever. Default: false. */
  readonly lasting?: boolean | undefined;
  /** Whether the holder also finds the change of these months' payments and withdrawals. Default: false. */
  readonly change?: boolean | undefined;
}

/**
 * The viewing keys of some of a wallet's addresses, for programs that have its keys and need not open it.
 * @throws WalletError INVALID_OPTION; SottoError INVALID_MONTH
 */
export function viewingKeysOf(keys: WalletKeys, options: ViewingKeysOptions): ViewingKeys {
  const { months = [], lasting = false, change = false } = Object(options) as ViewingKeysOptions;
  if (typeof Object(keys).ofMonth !== "function")
    throw new WalletError("INVALID_OPTION", "viewing keys come from the keys of a wallet");
  if (!Array.isArray(months) || (months.length === 0 && !lasting))
    throw new WalletError("INVALID_OPTION", "name months, or the lasting address");
  const keyOf = (key: ViewingKey, changeKey: bigint): ViewingKey => (change ? { ...key, changeKey } : key);
  const ofLasting = { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
  const lastingKeys = lasting ? [keyOf(ofLasting, keys.changeKey)] : [];
  // Each key is the address's by its derivation, and each month occurs once, so that nothing is left to check.
  const ofMonths = [...new Set(months.map((month: Month) => parseMonth(month)))].sort().map((each) => {
    const { month, viewingKey, shieldedAddress, changeKey } = keys.ofMonth(each);
    return keyOf({ viewingKey, shieldedAddress, month }, changeKey);
  });
  return { ownerTag: keys.ownerTag(0), keys: [...lastingKeys, ...ofMonths] };
}
