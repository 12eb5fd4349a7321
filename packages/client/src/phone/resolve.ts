import { ServiceClientError, type SottoService, type Wallet } from "@sotto/wallet";
import { PhonePaymentError } from "./errors.ts";
import { type LookupSigner, signLookup } from "./lookup.ts";
import { assertMapping, type PhoneRecipient } from "./mapping.ts";
import { phoneNumberOf } from "./number.ts";
import { type ChangeOptions, type PhonePin, phonePin, pinPhone, standing } from "./pins.ts";

/** Options of a lookup that does not compare with the pinned wallet. */
export interface LookUpOptions {
  /** Aborts the lookup. */
  signal?: AbortSignal | undefined;
  /** Signs the lookup, for registries that require it. Such a registry learns who looks up whom. */
  signer?: LookupSigner | undefined;
}

/** Options of a lookup that compares with the pinned wallet. */
export interface ResolveOptions extends LookUpOptions, ChangeOptions {}

/** The wallet of a number, compared with the pinned one. */
export interface FoundPhone extends PhoneRecipient {
  /** new: the number was never paid. known: it leads to the pinned wallet. changed: to another one. */
  readonly standing: "new" | "known" | "changed";
  /** The pinned wallet; undefined if the number is new. */
  readonly known: PhonePin | undefined;
}

/**
 * Resolves a number at a registry and checks the response. Writes nothing.
 * @param written the number in international form
 * @throws PhonePaymentError; ServiceClientError; SottoError BINDING_UNCHECKED
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
    return registry.resolve(phone, { headers, signal });
  };
  const again = (error: unknown) => {
    // A lost response may have consumed the nonce, so the retry was refused: ask again with a fresh nonce.
    if (signer !== undefined && isRefused(error, 401, "NONCE_REFUSED")) return ask();
    throw error;
  };
  const mapping = await ask()
    .catch(again)
    .catch((error: unknown) => {
      // A 404 without the registry's error code does not come from a registry.
      if (!isRefused(error, 404, "UNKNOWN_NUMBER")) throw error;
      throw new PhonePaymentError("PHONE_UNKNOWN", "the registry has no wallet for this number", {}, { cause: error });
    });
  const recipient = await assertMapping(mapping, { wallet, phone, registry: registry.url, signal });
  const known = await phonePin(wallet.store, phone);
  return { ...recipient, standing: standing(known, recipient), known };
}

const isRefused = (error: unknown, status: number, reason: string): boolean =>
  error instanceof ServiceClientError && error.details["status"] === status && error.details["reason"] === reason;

/**
 * Resolves the wallet to pay for a number, compares it with the pinned one, and pins it.
 * @throws PhonePaymentError PHONE_CHANGED if the wallet or key changed and the change was not confirmed; and the errors
 *   of `lookUpPhone`
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
