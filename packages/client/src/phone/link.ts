import { BINDING_SLOT_SECONDS, bindingSlots, bindingTypedData, type ShieldedAddressBinding } from "@sotto/protocol";
import { normaliseServiceUrl } from "../service/address.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { addressOf, type LookupSigner, signTyped } from "./lookup.ts";
import { phoneNumberOf } from "./number.ts";

/** What `POST /phone/link` takes. */
export interface PhoneLink {
  readonly phoneNumber: string;
  readonly walletAddress: string;
  readonly encryptionPublicKey: string;
  readonly signature: string;
  /** Seconds. Some registries know the other four alone and find it out. */
  readonly issuedAt: number;
}

export interface BindingOptions {
  /** The number, or left out: the signature is for nobody's number, as a shop shows it in its 402 answers. */
  phone?: string;
  /** Base address of the registry; with a number only. */
  service?: string;
  /** For a wallet whose account takes its time to sign: a slot of the last 24 hours, seconds. Left out: the current. */
  issuedAt?: number;
}

/** A wallet's signature of where it can be paid privately. */
export interface SignedBinding {
  readonly binding: ShieldedAddressBinding;
  readonly signature: string;
}

/**
 * Lets the account `signer` say that it is paid at this wallet's shielded address.
 *
 * @throws PhoneError PHONE_NUMBER_INVALID; ServiceError SERVICE_NOT_ALLOWED; SottoError BINDING_INVALID; whatever the
 *   signer throws
 */
export async function signBinding(
  wallet: Pick<Wallet, "pool" | "shieldedAddress" | "now">,
  signer: LookupSigner,
  { phone, service, issuedAt = bindingSlots(wallet.now())[0]! }: BindingOptions = {},
): Promise<SignedBinding> {
  const binding: ShieldedAddressBinding = {
    phone: phone === undefined ? "" : phoneNumberOf(phone),
    wallet: await addressOf(signer),
    key: wallet.shieldedAddress,
    chainId: wallet.pool.chainId,
    pool: wallet.pool.pool as ShieldedAddressBinding["pool"],
    service: service === undefined ? "" : normaliseServiceUrl(service),
    issuedAt: issuedAt - (issuedAt % BINDING_SLOT_SECONDS),
  };
  return { binding, signature: await signTyped(signer, bindingTypedData(binding)) };
}

/** The body that links a number to `signer` at a registry; the code that is sent to the number proves the rest. */
export async function signPhoneLink(
  wallet: Pick<Wallet, "pool" | "shieldedAddress" | "now">,
  signer: LookupSigner,
  options: BindingOptions & { readonly phone: string; readonly service: string },
): Promise<PhoneLink> {
  const { binding, signature } = await signBinding(wallet, signer, options);
  const { phone, wallet: walletAddress, key, issuedAt } = binding;
  return { phoneNumber: phone, walletAddress, encryptionPublicKey: key, signature, issuedAt };
}
