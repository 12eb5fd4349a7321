import { type InstructionsRecipient, parseAddress, SottoError } from "@sotto/protocol";
import type { SottoService } from "../service/service.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { PhoneError } from "./errors.ts";
import { keepMapping, knownMapping, MAPPING_CACHE_MS } from "./known.ts";
import type { PhoneRecipient } from "./mapping.ts";
import { pinPhone } from "./pins.ts";
import { lookUpPhone, type ResolveOptions } from "./resolve.ts";

/**
 * A 402 answer that names a phone number asks to be paid at that number's wallet and key, and at no other: a shop's own
 * signature says who is paid, the registry says whose number it is.
 *
 * @throws PhoneError PHONE_RECIPIENT_MISMATCH; details.field is phone, wallet or shieldedAddress
 */
export function expectPhoneRecipient(
  recipient: Pick<InstructionsRecipient, "phone" | "wallet" | "shieldedAddress">,
  resolved: Pick<PhoneRecipient, "phone" | "wallet" | "shieldedAddress">,
): void {
  const field = mismatch(recipient, resolved);
  if (field === undefined) return;
  const message = `the phone number of the 402 answer has another ${field}`;
  throw new PhoneError("PHONE_RECIPIENT_MISMATCH", message, { field });
}

type Named = Pick<PhoneRecipient, "phone" | "wallet" | "shieldedAddress">;

/** The first field in which a 402 answer's recipient is not that of the number. */
function mismatch(
  { phone, wallet, shieldedAddress }: Pick<InstructionsRecipient, keyof Named>,
  resolved: Named,
): keyof Named | undefined {
  const named = { phone, wallet: walletOf(wallet), shieldedAddress };
  return (["phone", "wallet", "shieldedAddress"] as const).find((field) => named[field] !== resolved[field]);
}

/** In lower case; what is no address equals none. */
function walletOf(wallet: unknown): string | undefined {
  try {
    return parseAddress(wallet);
  } catch (error) {
    if (error instanceof SottoError) return undefined;
    throw error;
  }
}

export interface RecipientOptions extends ResolveOptions {
  /** How long a verified mapping is used before the registry is asked again, ms; a day if left out, 0: always asked. */
  cacheMs?: number;
}

/**
 * Checks the phone number of a 402 answer against a registry, and pins it. A 402 answer that names no number is not
 * checked. The registry is asked if the number's mapping was not verified lately, or the 402 names another recipient.
 *
 * @throws PhoneError; ServiceError; WalletError STORE_DAMAGED; SottoError BINDING_UNCHECKED
 */
export async function checkRecipientPhone(
  wallet: Wallet,
  registry: SottoService,
  recipient: Pick<InstructionsRecipient, "phone" | "wallet" | "shieldedAddress">,
  options: RecipientOptions = {},
): Promise<void> {
  if (recipient.phone === "") return;
  const { cacheMs = MAPPING_CACHE_MS } = options;
  const known = await knownMapping(wallet, registry.url, recipient.phone, cacheMs);
  if (known !== undefined && mismatch(recipient, known) === undefined) return;
  const found = await lookUpPhone(wallet, registry, recipient.phone, options);
  // Before it is pinned: a shop that names somebody else's number leaves no trace of it.
  expectPhoneRecipient(recipient, found);
  await pinPhone(wallet.store, found, options);
  await keepMapping(wallet, found, cacheMs);
}
