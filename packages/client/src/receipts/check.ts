import { assertChainId, type ChainSource } from "@sotto/chain";
import {
  type Address,
  encodeShieldedAddress,
  nonceOfReceiptKey,
  paymentContext,
  recipientSignal,
  resourceDigest,
  SottoError,
  senderCommitment,
  validUntilOf,
  verifyReceiptSignature,
} from "@sotto/protocol";
import { ReceiptError } from "./errors.ts";
import { cipherX, confirmsAmount } from "./open.ts";
import { parseReceipt, type ReadReceipt, receiptMessage } from "./receipt.ts";
import { settledEvent } from "./settled.ts";

export interface CheckReceiptOptions {
  chain: ChainSource;
  /** Where the payment must be. */
  chainId: bigint;
  pool: string;
  /** Blocks from the payment's own on, 1 or more. */
  confirmations: number;
  /** The text this verifier chose. Left out: the receipt may have been copied from anywhere. */
  challenge?: string | undefined;
}

/** What a checked receipt proves. */
export interface CheckedReceipt {
  chainId: bigint;
  pool: Address;
  transaction: string;
  block: number;
  /** keccak256 of the payment's signals: two receipts with one digest are of one payment. */
  digest: string;
  /** Leaf index of the note that was paid. */
  leafIndex: number;
  recipient: { wallet: Address; shieldedAddress: string };
  /** Base units. */
  amount: bigint;
  resourceUrl: string;
  /** When it was made, milliseconds. */
  timestamp: number;
  /** Owner tag of the note that paid: the second half of the payer's shielded address, or a tag of one deposit. */
  ownerTag: bigint;
  /** The text it answers; "" where it answers none: then whoever has a copy can show it. */
  challenge: string;
}

/**
 * Checks that a receipt opens its own signals. Needs no chain, and so says nothing of whether it was ever paid.
 * @throws ReceiptError RECEIPT_MALFORMED, RECEIPT_INVALID
 */
export function openReceipt(value: unknown): ReadReceipt {
  const receipt = parseReceipt(value);
  const { signals, recipient, ownerTag, resourceUrl, timestamp, amount } = receipt;
  const sender = senderCommitment(ownerTag, nonceOfReceiptKey(receipt.receiptKey));
  const to = { wallet: recipient.wallet, keyX: recipient.encryptionKey.x, ownerTag: recipient.ownerTag };
  if (recipientSignal(to, sender) !== signals[0])
    throw invalid("recipient, owner tag and receipt key do not open the payment's recipient signal");
  const validUntil = validUntilOf(timestamp);
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment: sender });
  if (paymentContext({ ...receipt, validUntil, resourceDigest: digest }) !== signals[1])
    throw invalid("resourceUrl and timestamp do not open the payment's resource signal");
  const delivered = {
    ephemeralX: signals[2]!,
    amountHint: signals[4]!,
    recipientCommitment: signals[7]!,
  };
  if (!holdsAmount(delivered, recipient.ownerTag, cipherX(signals[3]!, sender), amount))
    throw invalid("the payment's ciphertext and note do not hold this amount");
  if (!verifyReceiptSignature(receipt.signature, receiptMessage(receipt), receipt.receiptKey))
    throw invalid("its signature does not hold");
  return receipt;
}

/** A C that is no point is a C of no amount. */
function holdsAmount(...args: Parameters<typeof confirmsAmount>): boolean {
  try {
    return confirmsAmount(...args);
  } catch (error) {
    if (error instanceof SottoError && error.code === "INVALID_POINT") return false;
    throw error;
  }
}

/**
 * Checks a receipt against the chain.
 * @throws ReceiptError RECEIPT_MALFORMED, RECEIPT_INVALID, RECEIPT_ELSEWHERE, RECEIPT_OTHER_CHALLENGE,
 *   RECEIPT_NOT_SETTLED; ChainError WRONG_CHAIN, NODE_UNREACHABLE
 */
export async function checkReceipt(value: unknown, options: CheckReceiptOptions): Promise<CheckedReceipt> {
  const { chain, chainId, pool, challenge, confirmations } = options;
  const receipt = openReceipt(value);
  if (receipt.chainId !== chainId || receipt.pool !== pool.toLowerCase())
    throw new ReceiptError(
      "RECEIPT_ELSEWHERE",
      `it is of pool ${receipt.pool} on chain ${receipt.chainId}, expected ${pool} on chain ${chainId}`,
    );
  if (challenge !== undefined && receipt.challenge !== challenge)
    throw new ReceiptError("RECEIPT_OTHER_CHALLENGE", "it does not answer this challenge: it may be a copy");
  await assertChainId(chain, chainId);
  const { transaction, block, digest, amount, resourceUrl, timestamp, ownerTag } = receipt;
  const place = { transactionHash: transaction, blockNumber: block, digest };
  const { leafIndex } = await settledEvent(chain, receipt.pool, place, confirmations);
  const { wallet, encryptionKey, ownerTag: tag } = receipt.recipient;
  const recipient = { wallet, shieldedAddress: encodeShieldedAddress({ encryptionKey, ownerTag: tag }) };
  const told = { amount, resourceUrl, timestamp, ownerTag, challenge: receipt.challenge };
  return { chainId, pool: receipt.pool, transaction, block, digest, leafIndex, recipient, ...told };
}

function invalid(problem: string): ReceiptError {
  return new ReceiptError("RECEIPT_INVALID", `the receipt proves nothing: ${problem}`);
}
