import {
  BINDING_SLOT_SECONDS,
  bindingSlots,
  bindingTypedData,
  type Deployment,
  type ShieldedAddressBinding,
} from "@sotto/protocol";
import { normalizeServiceUrl, type Wallet } from "@sotto/wallet";
import { addressOf, type LookupSigner, signTyped } from "./lookup.ts";
import { phoneNumberOf } from "./number.ts";

/** The body of `POST /phone/link`. */
export interface PhoneLink {
  /** E.164. */
  readonly phoneNumber: string;
  /** Address of the account that signs. */
  readonly walletAddress: string;
  /** The shielded address, 64 bytes as hex with 0x. */
  readonly encryptionPublicKey: string;
  /** The account's EIP-712 signature, hex with 0x. */
  readonly signature: string;
  /** Seconds. Registries that know only the other four fields find it by trying the possible time slots. */
  readonly issuedAt: number;
}

/** The fields of a binding besides the shielded address. */
export interface BindingOptions {
  /** The phone number. Default: none, as in the signature that a resource server shows in its 402 responses. */
  phone?: string | undefined;
  /** Base URL of the registry; valid only together with a number. */
  service?: string | undefined;
  /**
   * A time slot within the last 24 hours, in seconds, for an account that takes long to sign. Default: the current
   * slot.
   */
  issuedAt?: number | undefined;
}

/** A wallet's signature of its shielded address. */
export interface SignedBinding {
  /** What the wallet signed. */
  readonly binding: ShieldedAddressBinding;
  /** The wallet's EIP-712 signature, hex with 0x. */
  readonly signature: string;
}

/** The part of a wallet that a binding needs. The keys suffice; the wallet need not be open. */
export interface BoundWallet extends Pick<Wallet, "shieldedAddress" | "now"> {
  /** The pool for which the address is signed. */
  readonly pool: Deployment;
}

/**
 * Binds the account `signer` to this wallet's shielded address.
 * @throws PhonePaymentError PHONE_NUMBER_INVALID; ServiceClientError SERVICE_NOT_ALLOWED; SottoError BINDING_INVALID;
 *   the signer's own errors
 */
export async function signBinding(
  wallet: BoundWallet,
  signer: LookupSigner,
  { phone, service, issuedAt = bindingSlots(wallet.now())[0]! }: BindingOptions = {},
): Promise<SignedBinding> {
  const binding: ShieldedAddressBinding = {
    phone: phone === undefined ? "" : phoneNumberOf(phone),
    wallet: await addressOf(signer),
    key: wallet.shieldedAddress,
    chainId: wallet.pool.chainId,
    pool: wallet.pool.pool as ShieldedAddressBinding["pool"],
    service: service === undefined ? "" : normalizeServiceUrl(service),
    issuedAt: issuedAt - (issuedAt % BINDING_SLOT_SECONDS),
  };
  return { binding, signature: await signTyped(signer, bindingTypedData(binding)) };
}

/**
 * The body that links a number to `signer` at a registry. The code sent to the number then proves control of the
 * number.
 */
export async function signPhoneLink(
  wallet: BoundWallet,
  signer: LookupSigner,
  options: BindingOptions & { readonly phone: string; readonly service: string },
): Promise<PhoneLink> {
  const { binding, signature } = await signBinding(wallet, signer, options);
  const { phone, wallet: walletAddress, key, issuedAt } = binding;
  return { phoneNumber: phone, walletAddress, encryptionPublicKey: key, signature, issuedAt };
}
