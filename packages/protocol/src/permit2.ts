import { type Bytes32, type DepositNotes, depositAuthorizationNonce } from "./contexts.ts";
import { fail } from "./errors.ts";
import { type Address, parseAddress } from "./ethereum-address.ts";
import { assertObject, assertUint } from "./validate.ts";

/** Permit2, which has the same address on every chain that has it. */
export const PERMIT2: Address = "0x000000000022d473030f116ddee9f6b43ac78ba3";

type Types = Record<string, { name: string; type: string }[]>;

/** EIP-712 types of the Permit2 message that authorizes a deposit, in the form of ethers and viem. */
export const PERMIT2_DEPOSIT_TYPES: Types = {
  PermitTransferFrom: [
    { name: "permitted", type: "TokenPermissions" },
    { name: "spender", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
  TokenPermissions: [
    { name: "token", type: "address" },
    { name: "amount", type: "uint256" },
  ],
};

/** EIP-712 types of an EIP-2612 permit. */
export const PERMIT_TYPES: Types = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
};

/** A deposit by Permit2. */
export interface Permit2Deposit extends DepositNotes {
  /** The pool's token, 20 bytes, hex with 0x. */
  readonly token: string;
  /** The pool, 20 bytes, hex with 0x. */
  readonly pool: string;
  /** 32 random bytes as hex. */
  readonly salt: Bytes32;
  /** The authorization is valid before this second, Unix time, at least 1. */
  readonly validBefore: bigint;
}

/** The message that a depositor signs for Permit2. */
export interface Permit2Message {
  /** The token, and the sum of the notes in base units. */
  readonly permitted: { readonly token: Address; readonly amount: bigint };
  /** The pool. */
  readonly spender: Address;
  /** `depositAuthorizationNonce` as a number: it commits to the notes. */
  readonly nonce: bigint;
  /** Last second in which the authorization is valid. */
  readonly deadline: bigint;
}

/** The message of an EIP-2612 permit. */
export interface PermitMessage {
  /** The account that approves. */
  readonly owner: Address;
  /** Permit2. */
  readonly spender: Address;
  /** Base units. */
  readonly value: bigint;
  /** Number of the owner's permits before. */
  readonly nonce: bigint;
  /** Last second in which it is valid. */
  readonly deadline: bigint;
}

function lastBefore(validBefore: unknown): bigint {
  if (validBefore === 0n) fail("INVALID_INTEGER", "validBefore must be at least 1");
  return assertUint(validBefore, 64, "validBefore") - 1n;
}

/** The EIP-712 domain of Permit2. @param chainId EIP-155 id */
export function permit2Domain(chainId: bigint): { name: string; chainId: bigint; verifyingContract: Address } {
  return { name: "Permit2", chainId: assertUint(chainId, 256, "chainId"), verifyingContract: PERMIT2 };
}

/**
 * The message that authorizes the pool to take the sum of these notes and make exactly them. Only the pool can use it, because
 * Permit2 takes its caller for the spender; and the pool computes the nonce from the notes that it makes.
 * @throws SottoError INVALID_FIELD_ELEMENT, INVALID_AMOUNT, INVALID_HEX, INVALID_ADDRESS, INVALID_INTEGER
 */
export function permit2Message(deposit: Permit2Deposit): Permit2Message {
  assertObject(deposit, "the deposit");
  const nonce = BigInt(depositAuthorizationNonce(deposit, deposit.salt));
  const amount = deposit.amounts.reduce((sum, each) => sum + each, 0n);
  return {
    permitted: { token: parseAddress(deposit.token, "token"), amount },
    spender: parseAddress(deposit.pool, "pool"),
    nonce,
    // EIP-3009 names the first second that is too late, Permit2 the last that is not.
    deadline: lastBefore(deposit.validBefore),
  };
}

/** The EIP-2612 message of `owner` that lets Permit2 take what the deposit needs, and no more. @param nonce the token's next one */
export function permitMessage(owner: string, nonce: bigint, message: Permit2Message): PermitMessage {
  assertObject(message, "the message");
  assertObject(message.permitted, "permitted");
  const { permitted, deadline } = message;
  return {
    owner: parseAddress(owner, "owner"),
    spender: PERMIT2,
    value: permitted.amount,
    nonce: assertUint(nonce, 256, "nonce"),
    deadline,
  };
}
