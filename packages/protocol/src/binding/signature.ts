import type { Bytes32 } from "../contexts.ts";
import { describe, fail, ProtocolError } from "../errors.ts";
import { type Address, addressToBigInt } from "../ethereum-address.ts";
import { SIGNATURE_VALIDATOR_CODE } from "../generated/signature-validator.ts";
import { bigIntToBytes, bytesToHex, concatBytes, hexToBytes } from "../hex.ts";
import { assertBinding, bindingDigest, type ShieldedAddressBinding } from "./binding.ts";
import { unwrapSignature, type WalletSignature } from "./eip6492.ts";
import { recoverSigner } from "./recover.ts";

/**
 * Sends `eth_call` with the block tag `latest` to a node of the binding's chain. Without `to`, the data is creation code, and the
 * node returns the result of executing it.
 */
export type EthCall = (call: { to?: string; data: string }) => Promise<string>;

/** Maximum length of a signature, bytes: enough for a wallet's creation code and the signatures of many owners. */
export const MAX_SIGNATURE_BYTES = 8192;

/**
 * Checks a signature's form and returns it as lower-case hex with 0x.
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

/** ABI encoding of `bytes`: the length, then the content padded to full words. */
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
  if (typeof call !== "function")
    fail("INVALID_ARGUMENT", `call must be a function that sends eth_call, got ${describe(call)}`);
  try {
    return await call({ data });
  } catch (cause) {
    throw new ProtocolError(
      "BINDING_UNCHECKED",
      "the node did not answer whether the wallet accepts the signature",
      {},
      { cause },
    );
  }
}

/**
 * Whether a wallet signed a digest: an externally owned account (65 or 64 bytes, low s), a contract wallet (EIP-1271),
 * or a contract wallet that is not deployed yet (EIP-6492). The signature of an externally owned account is checked
 * without calling the chain.
 *
 * The caller must make sure that `call` asks a node of the right chain and that the digest includes the chain id.
 * @throws SottoError BINDING_SIGNATURE_INVALID; BINDING_UNCHECKED if the node gives no valid answer
 */
export async function verifyWalletSignature(
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
    fail(
      "BINDING_UNCHECKED",
      "the node's answer about the signature is not the validator's: expected a word of 0 or 1",
    );
  return answer === ACCEPTED;
}

/**
 * Whether the binding's wallet signed it. The caller must check the binding's age and that its fields have the expected
 * values.
 * @throws SottoError BINDING_INVALID, BINDING_SIGNATURE_INVALID; BINDING_UNCHECKED if the node gives no valid answer
 */
export async function verifyBindingSignature(
  binding: ShieldedAddressBinding,
  signature: string,
  call: EthCall,
): Promise<boolean> {
  const { wallet } = assertBinding(binding);
  return verifyWalletSignature(wallet, bindingDigest(binding), signature, call);
}
