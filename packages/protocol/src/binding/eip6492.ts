import type { Address } from "../ethereum-address.ts";
import { bytesToBigInt, bytesToHex } from "../hex.ts";

/** The suffix of an EIP-6492 signature. */
const MAGIC = "6492".repeat(16);

/** A signature of a contract wallet, and the call that deploys the wallet if it is not deployed yet. */
export interface WalletSignature {
  readonly signature: Uint8Array;
  /** The zero address if the signature names no factory. */
  readonly factory: Address;
  readonly factoryCall: Uint8Array;
}

const NO_FACTORY: Address = `0x${"0".repeat(40)}`;

function wordAt(bytes: Uint8Array, offset: number): bigint {
  return bytesToBigInt(bytes.subarray(offset, offset + 32));
}

/**
 * The ABI-encoded `bytes` value whose offset is in the word at `head`; undefined if it extends past the end of `bytes`.
 */
function dynamicAt(bytes: Uint8Array, head: number): Uint8Array | undefined {
  const offset = wordAt(bytes, head);
  if (offset + 32n > BigInt(bytes.length)) return undefined;
  const begin = Number(offset) + 32;
  const length = wordAt(bytes, Number(offset));
  if (length > BigInt(bytes.length - begin)) return undefined;
  return bytes.subarray(begin, begin + Number(length));
}

/**
 * Whether a signature says that its contract wallet is not deployed yet, by EIP-6492.
 * @param signature hex with 0x
 */
export const isUndeployedSignature = (signature: string): boolean =>
  typeof signature === "string" && signature.toLowerCase().endsWith(MAGIC);

/**
 * Unwraps abi.encode(factory, factoryCall, signature) followed by the magic word. Returns any other signature
 * unchanged.
 * @returns undefined if the signature ends in the magic word but the rest does not decode
 */
export function unwrapSignature(signature: Uint8Array): WalletSignature | undefined {
  if (signature.length < 32 || bytesToHex(signature.subarray(-32)) !== `0x${MAGIC}`)
    return { signature, factory: NO_FACTORY, factoryCall: new Uint8Array(0) };
  const body = signature.subarray(0, -32);
  if (body.length < 96) return undefined;
  const factory = bytesToHex(body.subarray(0, 32));
  const [factoryCall, inner] = [dynamicAt(body, 32), dynamicAt(body, 64)];
  if (!factory.startsWith(`0x${"0".repeat(24)}`) || factoryCall === undefined || inner === undefined) return undefined;
  return { signature: inner, factory: `0x${factory.slice(26)}`, factoryCall };
}
