import { assertViewingKeys, type Month, parseMonth, type ViewingKeys, type WalletKeys } from "@sotto/protocol";
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
 * @throws WalletError INVALID_OPTION; SottoError INVALID_MONTH, INVALID_KEY
 */
export function viewingKeysOf(keys: WalletKeys, options: ViewingKeysOptions): ViewingKeys {
  const { months = [], lasting = false, change = false } = Object(options) as ViewingKeysOptions;
  if (typeof Object(keys).ofMonth !== "function")
    throw new WalletError("INVALID_OPTION", "viewing keys: the first argument must be the keys of a wallet");
  if (!Array.isArray(months) || (months.length === 0 && !lasting))
    throw new WalletError("INVALID_OPTION", "viewing keys: name months, or the lasting address");
  const ofMonths = (months as readonly Month[]).map((each) => {
    const { month, viewingKey, shieldedAddress, changeKey } = keys.ofMonth(parseMonth(each));
    return { month, viewingKey, shieldedAddress, ...(change ? { changeKey } : {}) };
  });
  const { viewingKey, changeKey } = keys;
  const ofLasting = { viewingKey, shieldedAddress: keys.shieldedAddress(), ...(change ? { changeKey } : {}) };
  return assertViewingKeys({ ownerTag: keys.ownerTag(0), keys: [...(lasting ? [ofLasting] : []), ...ofMonths] });
}
