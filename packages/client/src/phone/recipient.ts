import { addressOwnerTag, type InstructionsRecipient, parseAddress, SottoError } from "@sotto/protocol";
import type { SottoService, Wallet } from "@sotto/wallet";
import { PhonePaymentError } from "./errors.ts";
import { keepMapping, knownMapping, MAPPING_CACHE_MS } from "./known.ts";
import type { PhoneRecipient } from "./mapping.ts";
import { pinPhone } from "./pins.ts";
import { lookUpPhone, type ResolveOptions } from "./resolve.ts";

/**
 * Requires that a 402 with a phone number names the wallet and owner tag that the registry has for that number. The encryption
 * key may be that of a month.
 * @throws PhonePaymentError PHONE_RECIPIENT_MISMATCH; details.field is phone, wallet or shieldedAddress
 */
export function assertPhoneMatches(
  recipient: Pick<InstructionsRecipient, "phone" | "wallet" | "shieldedAddress">,
  resolved: Pick<PhoneRecipient, "phone" | "wallet" | "shieldedAddress">,
): void {
  const field = mismatch(recipient, resolved);
  if (field === undefined) return;
  const message = `the phone number of the 402 response has another ${field}`;
  throw new PhonePaymentError("PHONE_RECIPIENT_MISMATCH", message, { field });
}

type Named = Pick<PhoneRecipient, "phone" | "wallet" | "shieldedAddress">;

/** The first field in which the 402's recipient differs from the registry's. */
function mismatch(
  { phone, wallet, shieldedAddress }: Pick<InstructionsRecipient, keyof Named>,
  resolved: Named,
): keyof Named | undefined {
  if (phone !== resolved.phone) return "phone";
  if (walletOf(wallet) !== resolved.wallet) return "wallet";
  return tagOf(shieldedAddress) === tagOf(resolved.shieldedAddress) ? undefined : "shieldedAddress";
}

/** The owner of the notes that an address receives. An address that is malformed is equal to itself only. */
function tagOf(shieldedAddress: unknown): unknown {
  try {
    return addressOwnerTag(shieldedAddress);
  } catch (error) {
    if (error instanceof SottoError) return shieldedAddress;
    throw error;
  }
}

/** The address in lower case, or undefined if it is not an address. */
function walletOf(wallet: unknown): string | undefined {
  try {
    return parseAddress(wallet);
  } catch (error) {
    if (error instanceof SottoError) return undefined;
    throw error;
  }
}

export interface RecipientOptions extends ResolveOptions {
  /** Milliseconds to reuse a verified mapping without asking the registry. Default: one day; 0: always ask. */
  cacheMs?: number | undefined;
}

/**
 * Checks the phone number of a 402 against a registry, and pins it. A 402 without a number is not checked. The registry
 * is asked if no verified mapping is cached, or if the 402 names a different recipient than the cached one.
 * @throws PhonePaymentError; ServiceClientError; WalletError STORE_DAMAGED; SottoError BINDING_UNCHECKED
 */
export async function assertRecipientPhone(
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
  // Checked before pinning, so that a server that names someone else's number cannot cause a pin.
  assertPhoneMatches(recipient, found);
  await pinPhone(wallet.store, found, options);
  await keepMapping(wallet, found, cacheMs);
}
