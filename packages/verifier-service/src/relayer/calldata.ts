import { CallReverted } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import { type DepositCall, decodeBundle, type PaymentCall, resourceDigest, validUntilOf } from "@sotto/protocol";
import { Interface } from "ethers";
import type { Operation } from "../store/index.ts";

/** What a deposit takes from the token, and leaves on it: EIP-3009. */
export const tokenInterface = new Interface([
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
  "function balanceOf(address account) view returns (uint256)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
]);

/** What the contract gets of a bundle: the proof that was verified, and what opens signal 1. */
export function paymentCallOf(bundle: string): PaymentCall {
  const wire = JSON.parse(bundle);
  const { resourceUrl, timestamp, senderCommitment } = decodeBundle(wire);
  return {
    proof: wire.proof,
    signals: wire.publicSignals,
    validUntil: String(validUntilOf(timestamp)),
    resourceDigest: resourceDigest({ resourceUrl, timestamp, senderCommitment }),
  };
}

export function settleData(operations: readonly Operation[]): string {
  return encode("settle", [operations.map(({ call }) => call)]);
}

/** @throws CallReverted for what is no call of the contract: sending it would do no more than a call that reverts */
function encode(name: string, values: readonly unknown[]): string {
  try {
    return poolInterface.encodeFunctionData(name, values);
  } catch {
    throw new CallReverted("0x");
  }
}

/** Calldata of a deposit or withdrawal. */
export function singleData({ kind, call }: Operation): string {
  if (kind === "withdrawal") return encode("withdraw", [call]);
  const { from, ownerTags, amounts, salt, validAfter, validBefore, v, r, s } = call as DepositCall;
  const values = [from, ownerTags, amounts, salt, validAfter, validBefore, v, r, s];
  return encode("depositWithAuthorization", values);
}

/** The nonce of a deposit's authorization: its digest is depositor and nonce. */
export const authorizationNonceOf = ({ digest }: Operation): string => digest.slice(digest.indexOf(":") + 1);

const OUTCOMES = ["Settled", "NullifierSpent", "Expired", "UnknownRoot"];

/** What `settle` would do with each payment. */
export function decodeOutcomes(result: string): string[] {
  const [outcomes] = poolInterface.decodeFunctionResult("settle", result);
  return [...outcomes].map((outcome: bigint) => OUTCOMES[Number(outcome)] ?? "Unknown");
}

/** The name of the error a call reverts with: REVERTED_ and the contract's name for it, where that is known. */
export function revertReason(data: string): string {
  if (data === "0x") return "REVERTED";
  try {
    const error = poolInterface.parseError(data);
    // Error(string) and Panic(uint256) are Solidity's own: their texts are no codes.
    if (error && !["Error", "Panic"].includes(error.name))
      return `REVERTED_${error.name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}`;
  } catch {
    // Not one of the pool's: the token's, or none at all.
  }
  return "REVERTED";
}
