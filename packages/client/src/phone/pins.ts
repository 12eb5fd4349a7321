import { type Store, type StoredRecord, WalletError } from "@sotto/wallet";
import { hashText } from "../purchase/hash.ts";
import { putChecked } from "../put-checked.ts";
import { PhonePaymentError } from "./errors.ts";
import type { PhoneRecipient } from "./mapping.ts";

/** The wallet and key that were paid for a number so far. */
export interface PhonePin {
  readonly wallet: string;
  /** 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** Issue time of the newest link seen, seconds. */
  readonly issuedAt: number;
  /** Base URL of the registry that showed it. */
  readonly registry: string;
}

/** A number now resolves to another wallet, or to another key of the same wallet. */
export interface PhoneChange {
  /** The number, E.164. */
  readonly phone: string;
  /** The wallet and key to which the number resolved before. */
  readonly known: PhonePin;
  /** The wallet and key to which it resolves now. */
  readonly offered: PhonePin;
}

/** Decides whether the change is accepted. Anything but `true` refuses it. */
export type ConfirmChange = (change: PhoneChange) => boolean | Promise<boolean>;

/** Whether a number may resolve to another wallet or key than before. */
export interface ChangeOptions {
  /** Called when the number resolves to another wallet or key than before. Default: the change is refused. */
  confirmChange?: ConfirmChange | undefined;
  /** The only change that is accepted without asking: exactly this wallet and, if given, exactly this key. */
  acceptChange?: { readonly wallet: string; readonly shieldedAddress?: string };
}

/** The hash only makes a key of fixed length. It hides nothing, because anyone can hash all numbers. */
const pinKey = (phone: string): string => `pin/phone/${hashText(phone)}`;

function parsePin(record: StoredRecord | undefined): PhonePin | undefined {
  if (record === undefined) return undefined;
  const { wallet, shieldedAddress, issuedAt, registry } = Object(record.value) as Record<string, unknown>;
  const texts = [wallet, shieldedAddress, registry].every((text) => typeof text === "string");
  // Ignoring a damaged pin would accept any wallet.
  if (!texts || !Number.isSafeInteger(issuedAt))
    throw new WalletError("STORE_DAMAGED", "the stored wallet of a phone number is unreadable");
  return record.value as unknown as PhonePin;
}

/** The pinned wallet of a number; undefined if there is none. @throws WalletError STORE_DAMAGED */
export async function phonePin(store: Store, phone: string): Promise<PhonePin | undefined> {
  return parsePin(await store.get(pinKey(phone)));
}

/**
 * Compares a response with the pin. new: this number has no pin. known: same wallet and key. changed: another wallet or
 * key.
 * @throws PhonePaymentError PHONE_ROLLBACK if the link is older than the pinned one. A wallet that gets its number back
 *   signs a new link, so only a registry that lies or lost data shows an older one. Another registry may have an older
 *   link with the same key.
 */
export function standing(known: PhonePin | undefined, offered: PhonePin): "new" | "known" | "changed" {
  if (known === undefined) return "new";
  const same = known.wallet === offered.wallet && known.shieldedAddress === offered.shieldedAddress;
  if (offered.issuedAt < known.issuedAt && !(same && known.registry !== offered.registry))
    throw new PhonePaymentError(
      "PHONE_ROLLBACK",
      "the registry returned an older link than before",
      compared(known, offered),
    );
  return same ? "known" : "changed";
}

const compared = (known: PhonePin, offered: PhonePin) => ({
  knownWallet: known.wallet,
  knownKey: known.shieldedAddress,
  knownIssuedAt: known.issuedAt,
  offeredWallet: offered.wallet,
  offeredKey: offered.shieldedAddress,
  offeredIssuedAt: offered.issuedAt,
});

async function assertAccepted(change: PhoneChange, { acceptChange, confirmChange }: ChangeOptions): Promise<void> {
  const { known, offered } = change;
  const { wallet, shieldedAddress = offered.shieldedAddress } = acceptChange ?? {};
  const named = wallet?.toLowerCase() === offered.wallet && shieldedAddress === offered.shieldedAddress;
  if (named || (await confirmChange?.(change)) === true) return;
  const what = known.wallet === offered.wallet ? "key" : "wallet";
  throw new PhonePaymentError(
    "PHONE_CHANGED",
    `the number now has a different ${what}; confirm the change with its holder over another channel`,
    compared(known, offered),
  );
}

/**
 * Pins a number to its wallet and key. The first response is trusted; a later one is written only if it is unchanged or
 * confirmed. If two payments pin at the same time, the first writes the pin and the second compares with it.
 * @throws PhonePaymentError PHONE_CHANGED, PHONE_ROLLBACK
 */
export async function pinPhone(store: Store, recipient: PhoneRecipient, options: ChangeOptions): Promise<void> {
  const { phone, wallet, shieldedAddress, issuedAt, registry } = recipient;
  const offered: PhonePin = { wallet, shieldedAddress, issuedAt, registry };
  await putChecked(store, pinKey(phone), async (record) => {
    const known = parsePin(record);
    const found = standing(known, offered);
    if (known !== undefined && found === "changed") await assertAccepted({ phone, known, offered }, options);
    if (known !== undefined && found === "known" && offered.issuedAt <= known.issuedAt) return undefined;
    return { ...offered };
  });
}
