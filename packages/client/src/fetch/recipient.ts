import { abortable, signatureCall } from "@sotto/chain";
import { bindingOfInstructions, checkBinding } from "@sotto/protocol";
import { type Store, type StoredRecord, type Wallet, WalletError } from "@sotto/wallet";
import { hashText } from "../purchase/hash.ts";
import { putChecked } from "../put-checked.ts";
import type { Challenge } from "./challenge.ts";
import { FetchError } from "./errors.ts";

/** A host that names a different wallet than before, or the same wallet with another spending key. */
export interface RecipientChange {
  /** Host and port of the resource server. */
  host: string;
  /** The wallet that was paid for this host so far. */
  known: string;
  /** The wallet that the host names now; the same as `known` if only its key differs. */
  offered: string;
}

/** Decides whether a resource server may be paid at a new address. Anything but `true` refuses it. */
export type ConfirmRecipient = (change: RecipientChange) => boolean | Promise<boolean>;

/**
 * A wallet address alone proves nothing: an attacker who controls the server can combine the merchant's wallet address
 * with their own key. The wallet must have signed the shielded address for this chain and pool.
 * @throws FetchError RECIPIENT_NOT_SIGNED
 */
export async function assertRecipient(
  { instructions }: Challenge,
  wallet: Wallet,
  signal: AbortSignal | undefined,
): Promise<void> {
  const chain = abortable(wallet.chain, signal);
  const { signature } = instructions.payment.recipient;
  const problem = await checkBinding(
    bindingOfInstructions(instructions),
    signature,
    signatureCall(chain),
    wallet.now(),
  );
  if (problem !== undefined)
    throw new FetchError("RECIPIENT_NOT_SIGNED", `the recipient's signature is invalid: ${problem}`);
}

const pinKey = (host: string): string => `pin/host/${hashText(host)}`;

/** The wallet that is paid, and the owner of the notes. The encryption key may differ from month to month. */
export interface PinnedRecipient {
  readonly wallet: string;
  /** tag_0 of the wallet, decimal. */
  readonly ownerTag: string;
}

/** What is stored of it; pins of earlier versions have the wallet alone. */
type Pin = Pick<PinnedRecipient, "wallet"> & { readonly ownerTag: string | undefined };

/**
 * The recipient that a host is pinned to.
 * @throws WalletError STORE_DAMAGED, because ignoring the pin would accept any wallet
 */
function parsePin(record: StoredRecord | undefined, host: string): Pin | undefined {
  if (record === undefined) return undefined;
  const { wallet, ownerTag } = Object(record.value) as Record<string, unknown>;
  if (typeof wallet === "string" && (ownerTag === undefined || typeof ownerTag === "string"))
    return { wallet, ownerTag };
  throw new WalletError("STORE_DAMAGED", `the stored wallet of ${host} is unreadable`);
}

/** A pin without a tag takes the tag of the next payment to its wallet. */
const isSame = (known: Pin, { wallet, ownerTag }: PinnedRecipient): boolean =>
  known.wallet === wallet && (known.ownerTag ?? ownerTag) === ownerTag;

function changed(host: string, known: string, offered: string): FetchError {
  const what =
    known === offered
      ? `the wallet ${known} with another spending key before, so somebody else may own what is paid now`
      : `the wallet ${known} before and now names ${offered}`;
  return new FetchError(
    "RECIPIENT_CHANGED",
    `${host} was paid under ${what}; nothing was paid; accept the change only if the host confirms it elsewhere`,
    { host, known, offered },
  );
}

/**
 * Pins a host to the first wallet and owner tag that were paid for it. Another wallet may belong to a new owner or to a
 * thief, and a thief of the account's key can sign another tag. So a change must be confirmed. If two payments pin at the
 * same time, the first writes the pin and the second compares with it.
 * @throws FetchError RECIPIENT_CHANGED
 */
export async function pinHost(
  store: Store,
  host: string,
  offered: PinnedRecipient,
  confirm: ConfirmRecipient | undefined,
): Promise<void> {
  await putChecked(store, pinKey(host), async (record) => {
    const known = parsePin(record, host);
    if (known?.wallet === offered.wallet && known.ownerTag === offered.ownerTag) return undefined;
    const change = known !== undefined && { host, known: known.wallet, offered: offered.wallet };
    if (change && !isSame(known, offered) && (await confirm?.(change)) !== true)
      throw changed(host, known.wallet, offered.wallet);
    return { host, ...offered };
  });
}
