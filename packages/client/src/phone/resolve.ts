import { ServiceError } from "../service/errors.ts";
import type { SottoService } from "../service/service.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { PhoneError } from "./errors.ts";
import { type LookupSigner, signLookup } from "./lookup.ts";
import { checkMapping, type PhoneRecipient } from "./mapping.ts";
import { phoneNumberOf } from "./number.ts";
import { type ChangeOptions, type PhonePin, phonePin, pinPhone, standing } from "./pins.ts";

export interface LookUpOptions {
  signal?: AbortSignal;
  /** Signs the lookup, for a registry that answers signed ones only. It learns who asks about whom. */
  signer?: LookupSigner;
}

export interface ResolveOptions extends LookUpOptions, ChangeOptions {}

/** Who has a number, and how that compares with whom it was paid to before. */
export interface FoundPhone extends PhoneRecipient {
  readonly standing: "new" | "known" | "changed";
  readonly known?: PhonePin;
}

/**
 * Asks a registry who has a number, and checks all that it says. Nothing is written.
 *
 * @param written in its international form
 * @throws PhoneError; ServiceError; SottoError BINDING_UNCHECKED
 */
export async function lookUpPhone(
  wallet: Wallet,
  registry: SottoService,
  written: string,
  { signal, signer }: LookUpOptions = {},
): Promise<FoundPhone> {
  const phone = phoneNumberOf(written);
  const ask = async () => {
    const headers = signer === undefined ? {} : await signLookup(signer, phone, registry.url, wallet);
    return registry.resolve(phone, { headers, ...(signal ? { signal } : {}) });
  };
  const again = (error: unknown) => {
    // An answer that got lost on its way has used up the nonce: asked again, the registry refuses it.
    if (signer !== undefined && isRefused(error, 401, "NONCE_REFUSED")) return ask();
    throw error;
  };
  const mapping = await ask()
    .catch(again)
    .catch((error: unknown) => {
      // A 404 without the registry's own code comes from a server that is none.
      if (!isRefused(error, 404, "UNKNOWN_NUMBER")) throw error;
      throw new PhoneError("PHONE_UNKNOWN", "the registry knows nobody under this number", {}, { cause: error });
    });
  const recipient = await checkMapping(mapping, { wallet, phone, registry: registry.url });
  const known = await phonePin(wallet.store, phone);
  return { ...recipient, standing: standing(known, recipient), ...(known === undefined ? {} : { known }) };
}

const isRefused = (error: unknown, status: number, reason: string): boolean =>
  error instanceof ServiceError && error.details["status"] === status && error.details["reason"] === reason;

/**
 * Whom to pay for a number: asks, checks, compares with whom it was paid to before, and pins it.
 *
 * @throws PhoneError PHONE_CHANGED where the number leads elsewhere and nobody confirmed that, and as `lookUpPhone`
 */
export async function resolvePhone(
  wallet: Wallet,
  registry: SottoService,
  written: string,
  options: ResolveOptions = {},
): Promise<PhoneRecipient> {
  const { standing: _, known: __, ...recipient } = await lookUpPhone(wallet, registry, written, options);
  await pinPhone(wallet.store, recipient, options);
  return recipient;
}
