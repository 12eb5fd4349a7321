// Whether the chain has used a deposit's authorization: a nonce of the token (EIP-3009) or of Permit2.
import type { ContractRead } from "@sotto/chain";
import { permit2Interface, tokenInterface } from "@sotto/chain/ethers";
import { type DepositCall, PERMIT2 } from "@sotto/protocol";

/** An authorization, by what the chain keeps of it. */
export interface AuthorizationId {
  readonly from: string;
  /** Present if it is for Permit2. */
  readonly permit2: DepositCall["permit2"] | undefined;
  /** `depositAuthorizationNonce`, 32 bytes, hex with 0x. */
  readonly nonce: string;
}

/** The view that tells whether an authorization was used or cancelled; `isUsed` reads its answer. Permit2 keeps a bit of a word. */
export function usedRead(token: string, { from, nonce, permit2 }: AuthorizationId): ContractRead<unknown> {
  if (permit2 === undefined)
    return { abi: tokenInterface, to: token, name: "authorizationState", values: [from, nonce] };
  return { abi: permit2Interface, to: PERMIT2, name: "nonceBitmap", values: [from, BigInt(nonce) >> 8n] };
}

/** @param answer of `usedRead` */
export function isUsed({ nonce, permit2 }: AuthorizationId, answer: unknown): boolean {
  if (permit2 === undefined) return answer === true;
  return ((BigInt(answer as bigint) >> (BigInt(nonce) & 0xffn)) & 1n) === 1n;
}
