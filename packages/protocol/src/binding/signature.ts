import type { Bytes32 } from "../contexts.ts";
import { describe, fail, ProtocolError } from "../errors.ts";
import { type Address, addressToBigInt } from "../ethereum-address.ts";
import { SIGNATURE_VALIDATOR_CODE } from "../generated/signature-validator.ts";
import { bigIntToBytes, bytesToHex, concatBytes, hexToBytes } from "../hex.ts";
import { assertBinding, bindingDigest, type ShieldedAddressBinding } from "./binding.ts";
import { unwrapSignature, type WalletSignature } from "./eip6492.ts";
import { recoverSigner } from "./recover.ts";

/**
 * Asks a node of the binding's chain: `eth_call` at the newest block. Without `to` the data is creation code, whose
 * result is returned.
 */
export type EthCall = (call: { to?: string; data: string }) => Promise<string>;

/** Bytes a signature may have: room for a wallet's creation and the signatures of many owners. */
export const MAX_SIGNATURE_BYTES = 8192;

/**
 * A signature's bytes as lower-case hex with 0x.
 *
 * @throws SottoError BINDING_SIGNATURE_INVALID
 */
export function normalizeSignature(value: unknown): string {
  const size = typeof value === "string" ? value.length / 2 - 1 : 0;
  if (typeof value !== "string" || size > MAX_SIGNATURE_BYTES || !/^0x([0-9a-fA-F]{2})+$/.test(value)) {
    const expected = `1 to ${MAX_SIGNATURE_BYTES} bytes as hex with 0x`;
    fail("BINDING_SIGNATURE_INVALID", `a signature must be ${expected}, got ${describe(value)}`);
  }
  return value.toLowerCase();
}

const word = (value: bigint): Uint8Array => bigIntToBytes(value, 32);

/** A `bytes` value of the ABI: its length, and its content up to a full word. */
const dynamic = (bytes: Uint8Array): Uint8Array =>
  concatBytes(word(BigInt(bytes.length)), bytes, new Uint8Array((32 - (bytes.length % 32)) % 32));

/** Creation code of the validator with its arguments. */
function validatorCall(wallet: Address, digest: Bytes32, { signature, factory, factoryCall }: WalletSignature): string {
  const [first, second] = [dynamic(signature), dynamic(factoryCall)];
  const head = 5 * 32;
  const offsets = [head, head + first.length].map((offset) => word(BigInt(offset)));
  const values = [word(addressToBigInt(wallet)), hexToBytes(digest, 32), offsets[0]!, word(addressToBigInt(factory))];
  return SIGNATURE_VALIDATOR_CODE + bytesToHex(concatBytes(...values, offsets[1]!, first, second)).slice(2);
}

const ACCEPTED = bytesToHex(word(1n));
const REFUSED = bytesToHex(word(0n));

async function ask(call: EthCall, data: string): Promise<string> {
  if (typeof call !== "function") fail("INVALID_ARGUMENT", `a function that calls was expected, got ${describe(call)}`);
  try {
    return await call({ data });
  } catch (cause) {
    throw new ProtocolError("BINDING_UNCHECKED", "the chain could not be asked about a signature", {}, { cause });
  }
}

/**
 * Whether a wallet signed a digest: an externally owned account (65 or 64 bytes, low s), a contract wallet (EIP-1271),
 * or one that is not deployed yet (EIP-6492). An account's own signature needs no chain.
 *
 * That the call goes to a node of the right chain, and that the digest names the chain, is the caller's to see to.
 *
 * @throws SottoError BINDING_SIGNATURE_INVALID, and BINDING_UNCHECKED where the chain gave no answer
 */
export async function checkWalletSignature(
  wallet: Address,
  digest: Bytes32,
  signature: string,
  call: EthCall,
): Promise<boolean> {
  const hex = normalizeSignature(signature);
  const bytes = hexToBytes(hex, hex.length / 2 - 1);
  if (recoverSigner(digest, bytes) === wallet) return true;
  const unwrapped = unwrapSignature(bytes);
  if (unwrapped === undefined) return false;
  const answer = await ask(call, validatorCall(wallet, digest, unwrapped));
  if (answer !== ACCEPTED && answer !== REFUSED)
    fail("BINDING_UNCHECKED", "the chain's answer about a signature is not one of the validator's");
  return answer === ACCEPTED;
}

/**
 * Whether the binding's wallet signed it. The binding's age and its fields are the caller's to judge.
 *
 * @throws SottoError BINDING_INVALID, BINDING_SIGNATURE_INVALID, and BINDING_UNCHECKED where the chain gave no answer
 */
export async function checkBindingSignature(
  binding: ShieldedAddressBinding,
  signature: string,
  call: EthCall,
): Promise<boolean> {
  const { wallet } = assertBinding(binding);
  return checkWalletSignature(wallet, bindingDigest(binding), signature, call);
}
