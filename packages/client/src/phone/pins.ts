import { WalletError } from "../errors.ts";
import { hashText } from "../purchase/hash.ts";
import type { Store, StoredRecord } from "../store/store.ts";
import { PhoneError } from "./errors.ts";
import type { PhoneRecipient } from "./mapping.ts";

/** Whom a number was paid to so far. */
export interface PhonePin {
  readonly wallet: string;
  readonly shieldedAddress: string;
  /** Of the newest link that was seen, seconds. */
  readonly issuedAt: number;
  /** Base address of the registry that showed it. */
  readonly registry: string;
}

/** A number leads to another wallet, or to another key of the same wallet, than it did. */
export interface PhoneChange {
  readonly phone: string;
  readonly known: PhonePin;
  readonly offered: PhonePin;
}

export type ConfirmChange = (change: PhoneChange) => boolean | Promise<boolean>;

export interface ChangeOptions {
  /** Asked where the number leads elsewhere than before. Left out: it is refused. */
  confirmChange?: ConfirmChange;
  /** The one change that is accepted: exactly this wallet, and exactly this key where it is given. */
  acceptChange?: { readonly wallet: string; readonly shieldedAddress?: string };
}

/** A bare hash of a number falls to who tries all numbers: it orders the records, it hides nothing. */
const pinKey = (phone: string): string => `pin/phone/${hashText(phone)}`;

/** How often a pin is read again when another payment pinned the number meanwhile. */
const TRIES = 10;

function readPin(record: StoredRecord | undefined): PhonePin | undefined {
  if (record === undefined) return undefined;
  const { wallet, shieldedAddress, issuedAt, registry } = Object(record.value) as Record<string, unknown>;
  const texts = [wallet, shieldedAddress, registry].every((text) => typeof text === "string");
  // Taken for none, anybody could be paid next.
  if (!texts || !Number.isSafeInteger(issuedAt))
    throw new WalletError("STORE_DAMAGED", "the store's record of a phone number's wallet cannot be read");
  return record.value as unknown as PhonePin;
}

/** @throws WalletError STORE_DAMAGED */
export async function phonePin(store: Store, phone: string): Promise<PhonePin | undefined> {
  return readPin(await store.get(pinKey(phone)));
}

/**
 * new: the number was never paid from here. known: it leads where it led. changed: it leads elsewhere.
 *
 * @throws PhoneError PHONE_ROLLBACK. A wallet that takes its number back signs anew: what is older was true once, and is
 *   shown again by a registry that lies, or lost what it knew. Another registry may know an older link of the same key.
 */
export function standing(known: PhonePin | undefined, offered: PhonePin): "new" | "known" | "changed" {
  if (known === undefined) return "new";
  const same = known.wallet === offered.wallet && known.shieldedAddress === offered.shieldedAddress;
  if (offered.issuedAt < known.issuedAt && !(same && known.registry !== offered.registry))
    throw new PhoneError(
      "PHONE_ROLLBACK",
      "the registry shows a link that is older than the one it showed before",
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

async function expectAccepted(change: PhoneChange, { acceptChange, confirmChange }: ChangeOptions): Promise<void> {
  const { known, offered } = change;
  const { wallet, shieldedAddress = offered.shieldedAddress } = acceptChange ?? {};
  const named = wallet?.toLowerCase() === offered.wallet && shieldedAddress === offered.shieldedAddress;
  if (named || (await confirmChange?.(change)) === true) return;
  const what = known.wallet === offered.wallet ? "key" : "wallet";
  throw new PhoneError(
    "PHONE_CHANGED",
    `the number leads to another ${what} than before: ask its holder by other means whether that is right`,
    compared(known, offered),
  );
}

/**
 * Writes down whom a number leads to: the first time as it is (whoever is pinned first is trusted), later only where
 * nothing has changed or the change was confirmed. Of two payments that pin at once, one writes and the other compares.
 *
 * @throws PhoneError PHONE_CHANGED, PHONE_ROLLBACK
 */
export async function pinPhone(store: Store, recipient: PhoneRecipient, options: ChangeOptions): Promise<void> {
  const { phone, wallet, shieldedAddress, issuedAt, registry } = recipient;
  const offered: PhonePin = { wallet, shieldedAddress, issuedAt, registry };
  for (let tries = 1; ; tries += 1) {
    const record = await store.get(pinKey(phone));
    const known = readPin(record);
    const found = standing(known, offered);
    if (known !== undefined && found === "changed") await expectAccepted({ phone, known, offered }, options);
    if (known !== undefined && found === "known" && offered.issuedAt <= known.issuedAt) return;
    try {
      return await store.put(pinKey(phone), { ...offered }, record?.version ?? 0);
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "STORE_CONFLICT" || tries >= TRIES) throw error;
    }
  }
}
