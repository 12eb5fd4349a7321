import { assertAmount, parseAddress } from "@sotto/protocol";
import { ZeroAddress } from "ethers";
import { WalletError } from "../errors.ts";
import { expectCount } from "./connect.ts";
import type { WalletCore } from "./core.ts";

/** What whoever submits a withdrawal or a merge is paid for it, out of the notes. */
export interface Fee {
  /** Base units. */
  amount: bigint;
  recipient: string;
}

export interface WithdrawalRequest {
  /** Who receives the tokens. */
  recipient: string;
  /** Base units the recipient receives; the fee comes on top. */
  amount: bigint;
  fee?: Fee;
  /** Seconds it may be executed in, 60 to 86,340 and up to a full minute; 600 if left out. */
  validFor?: number;
}

export interface MergeRequest {
  /** Base units the merged note should hold at least; left out: any. */
  target?: bigint;
  fee?: Fee;
  validFor?: number;
}

export interface ExitRequest {
  /** Who receives all that the notes hold, less the fee. */
  recipient: string;
  fee?: Fee;
  /** Seconds it may be executed in, 60 to 86,340 and up to a full minute; 600 if left out. */
  validFor?: number;
}

export interface Terms {
  recipient: string;
  /** What leaves the pool: the recipient's part and the fee. */
  amount: bigint;
  fee: bigint;
  feeRecipient: string;
  validFor: number;
  leaveNothing: boolean;
}

/** Seconds. With what is added to reach a full minute it stays within the day that services allow. */
const MAX_VALIDITY_SECONDS = 86_340;

/** @param amount base units for the recipient @throws SottoError INVALID_AMOUNT, INVALID_ADDRESS; WalletError INVALID_OPTION */
export function checkTerms(
  core: WalletCore,
  recipient: string,
  amount: bigint,
  { fee, validFor = 600 }: MergeRequest,
): Terms {
  const feeAmount = assertAmount(fee?.amount ?? 0n, "fee.amount");
  const feeRecipient = fee === undefined ? ZeroAddress : parseAddress(fee.recipient, "fee.recipient");
  const total = assertAmount(assertAmount(amount) + feeAmount, "amount and fee together");
  expectCount(validFor, "validFor", 60, MAX_VALIDITY_SECONDS);
  if (amount > 0n) checkReceiver(core, recipient, "recipient");
  if (feeAmount > 0n) checkReceiver(core, feeRecipient, "fee.recipient");
  return { recipient, amount: total, fee: feeAmount, feeRecipient, validFor, leaveNothing: false };
}

/** The pool sends nothing to nobody, nor to itself, where it would be lost. */
function checkReceiver(core: WalletCore, address: string, name: string): void {
  if (BigInt(address) === 0n || address === core.options.info.pool)
    throw new WalletError("INVALID_OPTION", `${name} is ${address}: tokens cannot go to the zero address or the pool`);
}

/**
 * The date of an attempt: a full minute, because the chain shows it and an exact second would show a wallet's clock.
 * @param last the date of the attempt before this one, 0 if there is none: another attempt always has a later one
 * @returns seconds
 */
export function dateOf(now: number, validFor: number, last: number): number {
  const date = Math.ceil((Math.floor(now / 1000) + validFor) / 60) * 60;
  return Math.max(date, last + 60);
}
