import {
  bytesToHex,
  decodeShieldedAddress,
  nonceOfReceiptKey,
  receiptKeyOf,
  receiptSecret,
  senderCommitment,
  signalsDigest,
  signalsOfOpening,
  signalWords,
  signWithReceiptKey,
} from "@sotto/protocol";
import { ReceiptError } from "../receipts/errors.ts";
import { isPlainText } from "../receipts/parse.ts";
import { type Receipt, receiptMessage } from "../receipts/receipt.ts";
import type { FoundSpend, Shown } from "../scan/notes.ts";
import type { WalletCore } from "./core.ts";
import type { PaymentAttempt, PaymentRecord } from "./journal.ts";
import { statusOf } from "./state.ts";

/** Options of a receipt. */
export interface ReceiptOptions {
  /** The text that the verifier chose, 1 to 256 characters. Without it, anyone with a copy can show the receipt. */
  challenge?: string | undefined;
  /** Makes the receipt even if it reveals the deposit, and therefore the account, that paid. */
  showDeposit?: boolean | undefined;
}

/**
 * Makes a receipt of a settled payment. The node is not queried, because it would learn which payment the receipt is
 * for.
 * @throws WalletError UNKNOWN_PAYMENT; ReceiptError RECEIPT_IMPOSSIBLE, RECEIPT_SHOWS_DEPOSIT, RECEIPT_MALFORMED
 */
export async function makeReceipt(core: WalletCore, id: string, options: ReceiptOptions = {}): Promise<Receipt> {
  const { challenge } = options;
  if (challenge !== undefined && !isPlainText(challenge))
    throw new ReceiptError("RECEIPT_MALFORMED", "a challenge is 1 to 256 characters without control characters");
  const record = core.journal.get(id);
  if (record.kind !== "payment") throw impossible(id, "it is a withdrawal, which the chain shows to everyone");
  const { state, final } = statusOf(record, core.view);
  if (state !== "settled" || !final) throw impossible(id, `it is ${state}, not settled with its confirmations`);
  const { notes, spends } = core.sync.ledger;
  const spend = spends.get(record.notes[0]!)!;
  const note = notes.get(record.notes[0]!);
  const attempt = record.attempts.find(({ digest }) => digest === spend.digest)!;
  if (note === undefined || spend.shown === undefined)
    throw impossible(id, "the spent note is no longer in this wallet");
  if (note.keyIndex !== 0 && options.showDeposit !== true)
    throw new ReceiptError(
      "RECEIPT_SHOWS_DEPOSIT",
      "this payment was made from a deposited note: its receipt shows which deposit, and so which account, paid",
    );
  const event = { ...spend, ...spend.shown };
  return compose(core, { record, attempt, event, keyIndex: note.keyIndex, challenge: challenge ?? "" });
}

interface Parts {
  record: PaymentRecord;
  attempt: PaymentAttempt;
  event: FoundSpend & Shown;
  keyIndex: number;
  challenge: string;
}

function compose(core: WalletCore, { record, attempt, event, keyIndex, challenge }: Parts): Receipt {
  const { keys, info } = core.options;
  const { recipient, resourceUrl } = record;
  const { timestamp, digest } = attempt;
  const secret = receiptSecret(keys.nonceKey, event.nullifier, event.ephemeralX);
  const receiptKey = receiptKeyOf(secret);
  const ownerTag = keys.ownerTag(keyIndex);
  const sender = senderCommitment(ownerTag, nonceOfReceiptKey(receiptKey));
  const { encryptionKey, ownerTag: recipientTag } = decodeShieldedAddress(recipient.shieldedAddress);
  const opened = signalsOfOpening({
    deployment: info,
    recipient: { wallet: recipient.wallet, keyX: encryptionKey.x, ownerTag: recipientTag },
    resourceUrl,
    timestamp,
    senderCommitment: sender,
  });
  const signals = signalWords("payment", { ...event, ...opened, root: BigInt(attempt.root) });
  if (signalsDigest(signals) !== digest) throw impossible(record.id, "its journal differs from the chain");
  const signed = receiptMessage({ chainId: info.chainId, pool: info.pool, digest, challenge });
  return {
    type: "sotto-receipt",
    version: 1,
    chainId: String(info.chainId),
    pool: info.pool,
    transaction: event.transactionHash,
    block: event.blockNumber,
    publicSignals: signals.map(String),
    recipient,
    amount: record.amount,
    resourceUrl,
    timestamp,
    ownerTag: String(ownerTag),
    receiptKey: bytesToHex(receiptKey),
    challenge,
    signature: bytesToHex(signWithReceiptKey(signed, secret)),
  };
}

function impossible(id: string, reason: string): ReceiptError {
  return new ReceiptError("RECEIPT_IMPOSSIBLE", `there can be no receipt of payment ${id}: ${reason}`);
}
