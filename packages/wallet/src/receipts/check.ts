import { assertChainId, type ChainSource } from "@sotto/chain";
import {
  type Address,
  assertViewingKeys,
  checkOpening,
  encodeShieldedAddress,
  nonceOfReceiptKey,
  paymentSignals,
  SottoError,
  senderCommitment,
  type ViewingKey,
  type ViewingKeys,
  verifyReceiptSignature,
} from "@sotto/protocol";
import { ReceiptError } from "./errors.ts";
import { cipherX, confirmsAmount } from "./open.ts";
import { type ParsedReceipt, parseReceipt, receiptMessage } from "./receipt.ts";
import { settledEvent } from "./settled.ts";

/** The expected values that a receipt is checked against. */
export interface AssertReceiptOptions {
  /** Where the block of the payment is read. Its node learns which block that is. */
  chain: ChainSource;
  /** EIP-155 id of the chain that the payment must be on. */
  chainId: bigint;
  /** Address of the pool that the payment must be in, 20 bytes, hex with 0x. */
  pool: string;
  /** Required confirmations, 1 or more: blocks from the payment's block on, itself included. */
  confirmations: number;
  /**
   * The text that this verifier chose. Without it, any challenge is accepted: the receipt may be a copy of one made for
   * someone else.
   */
  challenge?: string | undefined;
}

/** The facts that a checked receipt proves. */
export interface CheckedReceipt {
  /** EIP-155 id. */
  chainId: bigint;
  /** The pool that settled the payment. */
  pool: Address;
  /** Hash of the settling transaction, 32 bytes, hex with 0x. */
  transaction: string;
  /** Height of the block with that transaction; it has the required confirmations. */
  block: number;
  /** keccak256 of the payment's signals: receipts with equal digests are for the same payment. */
  digest: string;
  /** Leaf index of the recipient's note. */
  leafIndex: number;
  /**
   * The shielded address that was paid, 64 bytes as hex, and the wallet address that the payer named with it. Only a
   * binding says whose wallet it is.
   */
  recipient: { wallet: Address; shieldedAddress: string };
  /** Base units, 0 to 2^64 - 1. */
  amount: bigint;
  /** The URL that was paid for, 1 to 2,048 characters. */
  resourceUrl: string;
  /** When the payment was made, milliseconds since the Unix epoch. */
  timestamp: number;
  /** Owner tag of the spent note: the second half of the payer's shielded address, or the tag of one deposit. */
  ownerTag: bigint;
  /** The verifier's challenge; "" if there was none, in which case anyone with a copy can show the receipt. */
  challenge: string;
}

const UNOPENED = {
  RECIPIENT_SIGNAL: "recipient, owner tag and receipt key do not open the payment's recipient signal",
  RESOURCE_SIGNAL: "resourceUrl and timestamp do not open the payment's resource signal",
};

/**
 * Checks that a receipt opens its own signals. Does not query the chain, so it does not show that the payment settled.
 * @throws ReceiptError RECEIPT_MALFORMED, RECEIPT_INVALID
 */
export function openReceipt(value: unknown): ParsedReceipt {
  const receipt = parseReceipt(value);
  const { chainId, pool, recipient, resourceUrl, timestamp, amount } = receipt;
  const signals = paymentSignals(receipt.signals);
  const sender = senderCommitment(receipt.ownerTag, nonceOfReceiptKey(receipt.receiptKey));
  const { wallet, encryptionKey, ownerTag } = recipient;
  const mismatch = checkOpening(signals, {
    deployment: { chainId, pool },
    recipient: { wallet, keyX: encryptionKey.x, ownerTag },
    resourceUrl,
    timestamp,
    senderCommitment: sender,
  });
  if (mismatch !== undefined) throw invalid(UNOPENED[mismatch.kind]);
  if (!holdsAmount(signals, ownerTag, cipherX(signals.hiddenCipherX, sender), amount))
    throw invalid("the payment's ciphertext and note do not contain this amount");
  if (!verifyReceiptSignature(receipt.signature, receiptMessage(receipt), receipt.receiptKey))
    throw invalid("its signature is invalid");
  return receipt;
}

/** False if C is not a point and therefore encrypts no amount. */
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
export async function assertReceipt(value: unknown, options: AssertReceiptOptions): Promise<CheckedReceipt> {
  const { chain, chainId, pool, challenge, confirmations } = options;
  const receipt = openReceipt(value);
  if (receipt.chainId !== chainId || receipt.pool !== pool.toLowerCase())
    throw new ReceiptError(
      "RECEIPT_ELSEWHERE",
      `the receipt is for pool ${receipt.pool} on chain ${receipt.chainId}, expected pool ${pool} on chain ${chainId}`,
    );
  if (challenge !== undefined && receipt.challenge !== challenge)
    throw new ReceiptError("RECEIPT_OTHER_CHALLENGE", "the receipt answers another challenge, so it may be a copy");
  await assertChainId(chain, chainId);
  const { transaction, block, digest, amount, resourceUrl, timestamp, ownerTag } = receipt;
  const place = { transactionHash: transaction, blockNumber: block, digest };
  const { leafIndex } = await settledEvent(chain, receipt.pool, place, confirmations);
  const { wallet, encryptionKey, ownerTag: tag } = receipt.recipient;
  const recipient = { wallet, shieldedAddress: encodeShieldedAddress({ encryptionKey, ownerTag: tag }) };
  const told = { amount, resourceUrl, timestamp, ownerTag, challenge: receipt.challenge };
  return { chainId, pool: receipt.pool, transaction, block, digest, leafIndex, recipient, ...told };
}

/**
 * The key of the address that a receipt's payment was paid to. A month's key finds the receipts of that month's address only.
 * @returns undefined if the address is of none of these keys
 * @throws SottoError INVALID_KEY
 */
export function keyOfReceipt(
  { recipient }: Pick<CheckedReceipt, "recipient">,
  keys: ViewingKeys,
): ViewingKey | undefined {
  const address = recipient.shieldedAddress.toLowerCase();
  return assertViewingKeys(keys).keys.find(({ shieldedAddress }) => shieldedAddress === address);
}

function invalid(problem: string): ReceiptError {
  return new ReceiptError("RECEIPT_INVALID", `the receipt is invalid: ${problem}`);
}
