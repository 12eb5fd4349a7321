import { abortable, signatureCall } from "@sotto/chain";
import {
  type Address,
  assertBinding,
  assertBindingTime,
  normalizeSignature,
  type ShieldedAddressBinding,
  SottoError,
  verifyBindingSignature,
} from "@sotto/protocol";
import type { PhoneMapping, Wallet } from "@sotto/wallet";
import { sha256, toUtf8Bytes } from "ethers";
import { PhonePaymentError } from "./errors.ts";

/** The wallet that a number belongs to, as signed by that wallet. */
export interface PhoneRecipient {
  /** E.164. */
  readonly phone: string;
  /** Address of the wallet to pay. */
  readonly wallet: Address;
  /** The shielded address to pay: 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** Time at which the wallet signed the binding, seconds. */
  readonly issuedAt: number;
  /** Base URL of the registry that answered. */
  readonly registry: string;
}

/** The lookup that a registry's response must match. */
export interface Asked {
  readonly wallet: Wallet;
  /** E.164. */
  readonly phone: string;
  /** Base URL of the registry that was asked. */
  readonly registry: string;
  /** Ends the check of the signature, which may need the chain. */
  readonly signal?: AbortSignal | undefined;
}

interface SignedMapping {
  readonly binding: ShieldedAddressBinding;
  readonly signature: string;
}

/** Parses the signed values of the response. @throws PhonePaymentError PHONE_ANSWER_INVALID */
function parseMapping({ wallet, phoneHash, fields }: PhoneMapping): SignedMapping {
  const { phoneNumber, encryptionPublicKey, chainId, pool, service, issuedAt, signature } = fields;
  try {
    if (typeof chainId !== "string" || !/^(0|[1-9][0-9]{0,77})$/.test(chainId))
      throw new PhonePaymentError("PHONE_ANSWER_INVALID", "the registry's response has no chainId");
    const signed = { phone: phoneNumber, key: encryptionPublicKey, chainId: BigInt(chainId), service, issuedAt };
    const binding = assertBinding({ ...signed, wallet, pool });
    if (phoneHash !== sha256(toUtf8Bytes(binding.phone)).slice(2))
      throw new PhonePaymentError("PHONE_ANSWER_INVALID", "the registry's response has another number's phoneHash");
    return { binding, signature: normalizeSignature(signature) };
  } catch (cause) {
    if (!(cause instanceof SottoError) || cause instanceof PhonePaymentError) throw cause;
    throw new PhonePaymentError(
      "PHONE_ANSWER_INVALID",
      `the registry's response is invalid: ${cause.message}`,
      {},
      { cause },
    );
  }
}

/** Refuses a binding that was signed for another number, chain, pool or registry: it is valid there, but not here. */
function assertBindingMatches(binding: ShieldedAddressBinding, { wallet, phone, registry }: Asked): void {
  const { chainId, pool } = wallet.pool;
  const expected = { phone, chainId, pool, service: registry };
  for (const field of ["phone", "chainId", "pool", "service"] as const)
    if (binding[field] !== expected[field])
      throw new PhonePaymentError("PHONE_BINDING_FOREIGN", `the registry's binding was signed for another ${field}`, {
        field: field === "phone" ? "phoneNumber" : field,
      });
}

function assertInTime(binding: ShieldedAddressBinding, now: number): void {
  try {
    assertBindingTime(binding, now);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new PhonePaymentError("PHONE_BINDING_EXPIRED", cause.message, { issuedAt: binding.issuedAt }, { cause });
  }
}

/**
 * Checks a registry's response. Only values that the wallet signed are trusted.
 * @throws PhonePaymentError PHONE_ANSWER_INVALID, PHONE_BINDING_FOREIGN, PHONE_BINDING_EXPIRED, PHONE_UNVERIFIED,
 *   PHONE_NOT_SIGNED; SottoError BINDING_UNCHECKED if the node did not answer
 */
export async function assertMapping(mapping: PhoneMapping, asked: Asked): Promise<PhoneRecipient> {
  const { binding, signature } = parseMapping(mapping);
  assertBindingMatches(binding, asked);
  assertInTime(binding, asked.wallet.now());
  if (!mapping.verified)
    throw new PhonePaymentError(
      "PHONE_UNVERIFIED",
      "the holder of this number has not proved it with a code; unverified numbers are not paid",
    );
  const chain = abortable(asked.wallet.chain, asked.signal);
  if (!(await verifyBindingSignature(binding, signature, signatureCall(chain))))
    throw new PhonePaymentError(
      "PHONE_NOT_SIGNED",
      "the wallet that the registry names did not sign the shielded address",
    );
  const { phone, wallet, key, issuedAt, service } = binding;
  return { phone, wallet, shieldedAddress: key, issuedAt, registry: service };
}
