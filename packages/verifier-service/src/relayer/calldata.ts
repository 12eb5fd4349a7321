import { CallReverted } from "@sotto/chain";
import { depositFunction, poolInterface } from "@sotto/chain/ethers";
import {
  type DepositCall,
  type PaymentCall,
  resourceDigest,
  validUntilOf,
  type WireBundle,
  type WithdrawalCall,
  withdrawalArgument,
} from "@sotto/protocol";
import type { AuthorizationId } from "../pool/authorizations.ts";
import type { Operation } from "../store/index.ts";

/**
 * The contract's arguments for a bundle: the payment proof, and the opening of signal 1.
 * @param bundle from the store, which contains only canonical bundles that passed every check, so it is not checked again
 */
export function paymentCallOf(bundle: string): PaymentCall {
  const { proof, publicSignals, resourceUrl, timestamp, senderCommitment } = JSON.parse(bundle) as WireBundle;
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment: BigInt(senderCommitment) });
  return { proof, signals: publicSignals, validUntil: String(validUntilOf(timestamp)), resourceDigest: digest };
}

export function settleData(operations: readonly Operation[]): string {
  return encode("settle", () => [operations.map(({ call }) => call)]);
}

/** @throws CallReverted if the arguments do not encode, because such a call could only revert */
function encode(name: string, values: () => readonly unknown[]): string {
  try {
    return poolInterface.encodeFunctionData(name, values());
  } catch {
    throw new CallReverted("0x");
  }
}

/** Calldata of a deposit or withdrawal. */
export function singleData({ kind, call }: Operation): string {
  if (kind === "withdrawal") return encode("withdraw", () => [withdrawalArgument(call as WithdrawalCall)]);
  const { name, values } = depositFunction(call as DepositCall);
  return encode(name, () => values);
}

/** The authorization of a deposit, whose digest consists of depositor and nonce. */
export function authorizationOf({ call, digest }: Operation): AuthorizationId {
  const { from, permit2 } = call as DepositCall;
  return { from, permit2, nonce: digest.slice(digest.indexOf(":") + 1) };
}

const OUTCOMES = ["Settled", "NullifierSpent", "Expired", "UnknownRoot"];

/** The outcome of each payment in a simulated `settle`. */
export function decodeOutcomes(result: string): string[] {
  const [outcomes] = poolInterface.decodeFunctionResult("settle", result);
  return [...outcomes].map((outcome: bigint) => OUTCOMES[Number(outcome)] ?? "Unknown");
}

/** The reason for a revert: REVERTED_ and the name of the contract's error, if it is known. */
export function revertReason(data: string): string {
  if (data === "0x") return "REVERTED";
  try {
    const error = poolInterface.parseError(data);
    // Error(string) and Panic(uint256) are Solidity's own, and their texts are not codes.
    if (error && !["Error", "Panic"].includes(error.name))
      return `REVERTED_${error.name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase()}`;
  } catch {
    // The data is an error of the token, not of the pool, or is not an error at all.
  }
  return "REVERTED";
}
