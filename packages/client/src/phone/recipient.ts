import { type InstructionsRecipient, parseAddress, SottoError } from "@sotto/protocol";
import type { SottoService } from "../service/service.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { PhoneError } from "./errors.ts";
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
  const { phone, shieldedAddress } = recipient;
  const named = { phone, wallet: walletOf(recipient.wallet), shieldedAddress };
  for (const field of ["phone", "wallet", "shieldedAddress"] as const)
    if (named[field] !== resolved[field])
      throw new PhoneError("PHONE_RECIPIENT_MISMATCH", `the phone number of the 402 answer has another ${field}`, {
        field,
      });
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

/**
 * Checks the phone number of a 402 answer against a registry, and pins it. One that names no number is left as it is.
 *
 * @throws PhoneError; ServiceError; SottoError BINDING_UNCHECKED
 */
export async function checkRecipientPhone(
  wallet: Wallet,
  registry: SottoService,
  recipient: Pick<InstructionsRecipient, "phone" | "wallet" | "shieldedAddress">,
  options: ResolveOptions = {},
): Promise<void> {
  if (recipient.phone === "") return;
  const found = await lookUpPhone(wallet, registry, recipient.phone, options);
  // Before it is pinned: a shop that names somebody else's number leaves no trace of it.
  expectPhoneRecipient(recipient, found);
  await pinPhone(wallet.store, found, options);
}
