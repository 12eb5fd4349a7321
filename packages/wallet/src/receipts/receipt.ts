import {
  type Address,
  type Bytes32,
  CIRCUITS,
  decodeShieldedAddress,
  hexToBytes,
  MAX_URL_LENGTH,
  parseAddress,
  parseAmount,
  parseField,
  signalsDigest,
} from "@sotto/protocol";
import { isPlainText, malformed, parseBlock, parseChainId, parseDocument, parseHash, reading } from "./parse.ts";

const WHAT = "a receipt";
const SIGNALS = CIRCUITS.payment.publicSignalCount;

/**
 * A payer's receipt of one payment, as JSON. It opens everything that the payment's signals hide, and is signed with
 * the payment's receipt key. docs/protocol.md says what a receipt proves, and to whom.
 */
export interface Receipt {
  /** Names the format. */
  readonly type: "sotto-receipt";
  /** Version of the format. */
  readonly version: 1;
  /** EIP-155 id, decimal. */
  readonly chainId: string;
  /** Address of the pool, 20 bytes, lower-case hex with 0x. */
  readonly pool: string;
  /** Hash of the settling transaction, 32 bytes, lower-case hex with 0x. */
  readonly transaction: string;
  /** Height of its block. */
  readonly block: number;
  /** The public signals, decimal. */
  readonly publicSignals: readonly string[];
  /**
   * The wallet address that the payer named, 20 bytes, and the shielded address that was paid, 64 bytes; hex with 0x.
   */
  readonly recipient: { readonly wallet: string; readonly shieldedAddress: string };
  /** Base units, decimal. */
  readonly amount: string;
  /** The URL that was paid for, 1 to 2,048 characters. */
  readonly resourceUrl: string;
  /** When the payment was made, milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** Owner tag of the spent note, decimal. With the receipt key it opens the sender commitment. */
  readonly ownerTag: string;
  /** Public Ed25519 key of this payment, 32 bytes, hex with 0x. It signs the receipt. */
  readonly receiptKey: string;
  /** The verifier's challenge that the signature answers, at most 256 characters; "" for none. */
  readonly challenge: string;
  /** Ed25519 signature, 64 bytes, hex with 0x. */
  readonly signature: string;
}

/** A parsed receipt; none of its claims are checked yet. */
export interface ParsedReceipt {
  /** EIP-155 id. */
  readonly chainId: bigint;
  /** The pool that the receipt names. */
  readonly pool: Address;
  /** Hash of the settling transaction, 32 bytes, lower-case hex with 0x. */
  readonly transaction: string;
  /** Height of its block. */
  readonly block: number;
  /** The public signals of the payment, each a field element. */
  readonly signals: readonly bigint[];
  /** keccak256 of the signals, which identifies the payment. */
  readonly digest: Bytes32;
  /** The wallet that the payer named, and the shielded address that was paid: decoded, and as 64 bytes of hex. */
  readonly recipient: ReturnType<typeof decodeShieldedAddress> & { wallet: Address; shieldedAddress: string };
  /** Base units, 0 to 2^64 - 1. */
  readonly amount: bigint;
  /** The URL that was paid for, 1 to 2,048 characters. */
  readonly resourceUrl: string;
  /** When the payment was made, milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** Owner tag of the spent note, a field element. */
  readonly ownerTag: bigint;
  /** Public Ed25519 key, 32 bytes. */
  readonly receiptKey: Uint8Array;
  /** At most 256 characters without control characters; "" for none. */
  readonly challenge: string;
  /** Ed25519 signature, 64 bytes. */
  readonly signature: Uint8Array;
}

/** Parses a receipt strictly. Ignores unknown fields. @throws ReceiptError RECEIPT_MALFORMED */
export function parseReceipt(value: unknown): ParsedReceipt {
  const fields = parseDocument(value, "sotto-receipt", WHAT);
  return reading(WHAT, () => {
    const words = fields["publicSignals"];
    if (!Array.isArray(words) || words.length !== SIGNALS) throw malformed(WHAT, `it needs ${SIGNALS} public signals`);
    const signals = words.map((word, i) => parseField(word, `publicSignals[${i}]`));
    const { wallet, shieldedAddress } = Object(fields["recipient"]) as Record<string, unknown>;
    const { timestamp, challenge } = fields;
    if (typeof timestamp !== "number" || !Number.isSafeInteger(timestamp) || timestamp < 0)
      throw malformed(WHAT, "timestamp is not a time in milliseconds");
    if (challenge !== "" && !isPlainText(challenge)) throw malformed(WHAT, "challenge is not plain text");
    const address = decodeShieldedAddress(shieldedAddress);
    return {
      chainId: parseChainId(fields["chainId"], WHAT),
      pool: parseAddress(fields["pool"], "pool"),
      transaction: parseHash(fields["transaction"], "transaction", WHAT),
      block: parseBlock(fields["block"], "block", WHAT),
      signals,
      digest: signalsDigest(signals),
      recipient: {
        ...address,
        wallet: parseAddress(wallet, "recipient.wallet"),
        shieldedAddress: shieldedAddress as string,
      },
      amount: parseAmount(fields["amount"]),
      resourceUrl: parseResource(fields["resourceUrl"]),
      timestamp,
      ownerTag: parseField(fields["ownerTag"], "ownerTag"),
      receiptKey: hexToBytes(fields["receiptKey"], 32, "receiptKey"),
      challenge,
      signature: hexToBytes(fields["signature"], 64, "signature"),
    };
  });
}

function parseResource(value: unknown): string {
  if (typeof value !== "string" || value === "" || value.length > MAX_URL_LENGTH)
    throw malformed(WHAT, `resourceUrl is not a text of 1 to ${MAX_URL_LENGTH} characters`);
  return value;
}

/**
 * The message that a receipt's key signs. The challenge comes last and has no line breaks, so different statements have
 * different messages.
 */
export function receiptMessage(receipt: {
  chainId: bigint;
  pool: string;
  digest: string;
  challenge: string;
}): Uint8Array {
  const { chainId, pool, digest, challenge } = receipt;
  const lines = ["sotto/v1/receipt", `chain ${chainId}`, `pool ${pool}`, `payment ${digest}`, `challenge ${challenge}`];
  return new TextEncoder().encode(lines.join("\n"));
}
