import {
  assertUint,
  type DepositCall,
  depositAuthorizationNonce,
  type PaymentCall,
  PERMIT2,
  type PermitMessage,
  parseAddress,
  permit2Message,
  type WithdrawalCall,
  withdrawalArgument,
} from "@sotto/protocol";

import type { AppendCall } from "../pool/append.ts";
import { permit2Interface, poolInterface, tokenInterface } from "./abi.ts";

/** A transaction's target and calldata. Any account that pays the gas can send it. */
export interface ContractCall {
  /** The called contract, 20 bytes, lower-case hex with 0x. */
  to: string;
  /** ABI-encoded calldata, hex with 0x. */
  data: string;
}

/** A deposit that any account may submit: it moves the depositor's tokens, and the submitter pays the gas. Plain JSON. */
export interface DepositRequest extends DepositCall {
  /** EIP-155 id of the pool's chain, decimal. */
  chainId: string;
  /** Address of the pool that receives the tokens, 20 bytes, hex with 0x. */
  pool: string;
}

/** Settles one or many payments. Anyone may send it. */
export function settleCall(pool: string, payments: readonly PaymentCall[]): ContractCall {
  return { to: parseAddress(pool, "pool"), data: poolInterface.encodeFunctionData("settle", [payments]) };
}

/** Executes a withdrawal or a merge. Anyone may send it. */
export function withdrawCall(pool: string, withdrawal: WithdrawalCall): ContractCall {
  return {
    to: parseAddress(pool, "pool"),
    data: poolInterface.encodeFunctionData("withdraw", [withdrawalArgument(withdrawal)]),
  };
}

/** Moves queued notes into the tree. Anyone may send it. */
export function appendCall(pool: string, append: AppendCall): ContractCall {
  const { newRoot, leaves, proof, sequence } = append;
  const data = poolInterface.encodeFunctionData("append", [newRoot, leaves, proof, sequence]);
  return { to: parseAddress(pool, "pool"), data };
}

/** Deposits tokens that the sender approved before. */
export function depositCall(pool: string, ownerTags: readonly bigint[], amounts: readonly bigint[]): ContractCall {
  const data = poolInterface.encodeFunctionData("deposit", [ownerTags, amounts]);
  return { to: parseAddress(pool, "pool"), data };
}

/** Approves `pool` to transfer `amount` base units of the sender's tokens. */
export function approveCall(token: string, pool: string, amount: bigint): ContractCall {
  const parameters = [parseAddress(pool, "pool"), assertUint(amount, 256, "amount")];
  return { to: parseAddress(token, "token"), data: tokenInterface.encodeFunctionData("approve", parameters) };
}

/** The pool's function for a deposit that its depositor authorized, and its arguments. */
export function depositFunction(deposit: DepositCall): { name: string; values: readonly unknown[] } {
  const { from, ownerTags, amounts, salt, validAfter, validBefore, signature, permit2 } = deposit;
  const notes = [from, ownerTags, amounts, salt];
  if (permit2 === undefined)
    return { name: "depositWithAuthorization", values: [...notes, validAfter, validBefore, signature] };
  return {
    name: "depositWithPermit2",
    values: [...notes, BigInt(validBefore) - 1n, signature, permit2.permit ?? "0x"],
  };
}

/** r, s and v of 65 bytes. */
const partsOf = (signature: string) => ({
  v: `0x${signature.slice(130)}`,
  r: signature.slice(0, 66),
  s: `0x${signature.slice(66, 130)}`,
});

/** Submits a deposit that its depositor authorized. Anyone may send it. */
export function depositWithAuthorizationCall(request: DepositRequest): ContractCall {
  const { name, values } = depositFunction(request);
  return { to: parseAddress(request.pool, "pool"), data: poolInterface.encodeFunctionData(name, values) };
}

/**
 * The call of the token, or of Permit2, with which the pool redeems a deposit's authorization. Only the pool can send it as a
 * transaction. It has the nonce in place of the notes and the salt, so a node that sees it cannot submit the deposit.
 */
export function redeemAuthorizationCall(token: string, request: DepositRequest): ContractCall & { from: string } {
  const { from, salt, validAfter, validBefore, signature } = request;
  const pool = parseAddress(request.pool, "pool");
  const [ownerTags, amounts] = [request.ownerTags.map(BigInt), request.amounts.map(BigInt)];
  if (request.permit2 !== undefined) {
    const message = permit2Message({ ownerTags, amounts, salt, token, pool, validBefore: BigInt(validBefore) });
    const { permitted, nonce, deadline } = message;
    const details = { to: pool, requestedAmount: permitted.amount };
    const values = [{ permitted, nonce, deadline }, details, from, signature];
    return { from: pool, to: PERMIT2, data: permit2Interface.encodeFunctionData("permitTransferFrom", values) };
  }
  const value = amounts.reduce((sum, amount) => sum + amount, 0n);
  const nonce = depositAuthorizationNonce({ ownerTags, amounts }, salt);
  const terms = [from, pool, value, validAfter, validBefore, nonce];
  // Like the pool: 65 bytes are r, s and v.
  const isKeys = signature.length === 2 + 2 * 65;
  const { v, r, s } = partsOf(signature);
  const name = `receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,${isKeys ? "uint8,bytes32,bytes32" : "bytes"})`;
  const data = tokenInterface.encodeFunctionData(name, [...terms, ...(isKeys ? [v, r, s] : [signature])]);
  return { from: pool, to: parseAddress(token, "token"), data };
}

/** Submits a permit (EIP-2612) with r, s and v of its signature. Anyone may send it. */
export function permitCall(token: string, permit: PermitMessage, signature: string): ContractCall {
  const { owner, spender, value, deadline } = permit;
  const { v, r, s } = partsOf(signature);
  const data = tokenInterface.encodeFunctionData("permit", [owner, spender, value, deadline, v, r, s]);
  return { to: parseAddress(token, "token"), data };
}
