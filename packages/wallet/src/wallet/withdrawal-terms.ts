import { assertAmount, parseAddress } from "@sotto/protocol";
import { ZeroAddress } from "ethers";
import { WalletError } from "../errors.ts";
import type { MixOption } from "./apart.ts";
import { parseCount } from "./connect.ts";
import type { WalletCore } from "./core.ts";

/** The fee for the submitter of a withdrawal or merge, paid from the notes. */
export interface Fee {
  /** Base units. */
  amount: bigint;
  /** Address that receives it. */
  recipient: string;
}

/** A withdrawal of an amount, with change. */
export interface WithdrawalRequest extends MixOption {
  /** Address that receives the tokens. */
  recipient: string;
  /** Base units that the recipient receives, without the fee. */
  amount: bigint;
  /** Fee of the submitter, in addition to the amount. Default: none. */
  fee?: Fee;
  /**
   * Seconds during which the withdrawal may be executed, 60 to 86,340; 600 by default. The deadline is rounded up to a
   * full minute.
   */
  validFor?: number;
}

/** A merge of notes into one. */
export interface MergeRequest extends MixOption {
  /** Minimum base units of the merged note. Default: any. */
  target?: bigint | undefined;
  /** Fee of the submitter, subtracted from the merged note. Default: none. */
  fee?: Fee;
  /** Seconds during which the merge may be executed, 60 to 86,340. Default: 600. */
  validFor?: number;
}

/** A withdrawal of whole notes, without change. */
export interface ExitRequest extends MixOption {
  /** Address that receives the notes' whole value, less the fee. */
  recipient: string;
  /** Fee of the submitter, subtracted from the value. Default: none. */
  fee?: Fee;
  /**
   * Seconds during which the withdrawal may be executed, 60 to 86,340; 600 by default. The deadline is rounded up to a
   * full minute.
   */
  validFor?: number;
}

export interface WithdrawalTerms {
  recipient: string;
  /** Base units that leave the pool: the recipient's part and the fee. */
  amount: bigint;
  fee: bigint;
  feeRecipient: string;
  validFor: number;
  leaveNothing: boolean;
}

/** Rounded up to a full minute, it stays within the one day that services allow. */
const MAX_VALIDITY_SECONDS = 86_340;

/**
 * @param amount base units for the recipient
 * @throws SottoError INVALID_AMOUNT, INVALID_ADDRESS; WalletError INVALID_OPTION
 */
export function parseWithdrawalTerms(
  core: WalletCore,
  recipient: string,
  amount: bigint,
  { fee, validFor = 600 }: MergeRequest,
): WithdrawalTerms {
  const feeAmount = assertAmount(fee?.amount ?? 0n, "fee.amount");
  const feeRecipient = fee === undefined ? ZeroAddress : parseAddress(fee.recipient, "fee.recipient");
  const total = assertAmount(assertAmount(amount) + feeAmount, "amount and fee together");
  parseCount(validFor, "validFor", 60, MAX_VALIDITY_SECONDS);
  if (amount > 0n) assertReceiver(core, recipient, "recipient");
  if (feeAmount > 0n) assertReceiver(core, feeRecipient, "fee.recipient");
  return { recipient, amount: total, fee: feeAmount, feeRecipient, validFor, leaveNothing: false };
}

/** Refuses the zero address and the pool itself, where tokens would be lost. */
function assertReceiver(core: WalletCore, address: string, name: string): void {
  if (BigInt(address) === 0n || address === core.options.info.pool)
    throw new WalletError("INVALID_OPTION", `${name} is ${address}: tokens cannot go to the zero address or the pool`);
}

/** Deadlines of earlier attempts, seconds. */
export interface Deadlines {
  readonly all: readonly number[];
  /** Those of attempts that were made while this machine's clock was not ahead. */
  readonly timely: readonly number[];
}

/**
 * The deadline of an attempt, rounded up to a full minute, because the chain shows it and an exact second would reveal
 * the wallet's clock. It is later than those of the timely attempts, and no other attempt has it.
 * @returns seconds
 */
export function deadlineOf(now: number, validFor: number, { all, timely }: Deadlines): number {
  let deadline = Math.ceil((Math.floor(now / 1000) + validFor) / 60) * 60;
  for (const last of timely) deadline = Math.max(deadline, last + 60);
  while (all.includes(deadline)) deadline += 60;
  return deadline;
}
