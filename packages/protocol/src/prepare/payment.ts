import { type Bytes32, paymentContext, resourceDigest, signalsDigest, validUntilOf } from "../contexts.ts";
import { montgomeryEighth } from "../curve/montgomery.ts";
import type { Deployment } from "../deployment.ts";
import { encryptAmount, packCiphertext, randomScalar } from "../elgamal.ts";
import { fail } from "../errors.ts";
import { addressToBigInt } from "../ethereum-address.ts";
import { SIGNAL_POSITIONS } from "../generated/circuits.ts";
import { type Note, noteCommitment, nullifier } from "../note.ts";
import { signalsOfOpening } from "../payment/opening.ts";
import {
  changeSecrets,
  senderCommitment as commitToSender,
  hiddenCipherX,
  hintOf,
  senderNonce as nonceOf,
  noteSecrets,
} from "../secrets.ts";
import type { ShieldedAddress } from "../shielded-address.ts";
import type { NoteTree } from "../tree/note-tree.ts";
import { assertAmount, assertObject } from "../validate.ts";
import { locate, publicSignalsOf, type SpendableNote, type Statement } from "./types.ts";

export interface PaymentArguments extends Deployment {
  /** The tree at a root that the pool accepts. A proof against the newest confirmed root reveals the least. */
  readonly tree: NoteTree;
  /** The note that is spent. It must be in the tree. */
  readonly note: SpendableNote;
  /** The payer's change key. */
  readonly changeKey: bigint;
  /** The payer's nonce key, 32 bytes. */
  readonly nonceKey: Uint8Array;
  /** Owner tag of the change. */
  readonly changeTag: bigint;
  /** The recipient's shielded address, and its wallet as 20 bytes, hex with 0x. */
  readonly recipient: ShieldedAddress & { readonly wallet: string };
  /** Base units, at most the note's amount. */
  readonly amount: bigint;
  /** The URL that is paid for, not empty. */
  readonly resourceUrl: string;
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number;
  /** Random b of 249 bits, for tests; never reuse it. Default: a fresh one. */
  readonly scalar?: bigint | undefined;
}

/** What a proof of a payment is made from, and the values that follow from it. */
export interface PaymentInputs extends Statement<"payment"> {
  /** Wire form, 64 bytes as hex with 0x. */
  readonly encryptedAmount: string;
  /** Poseidon2(owner tag of the spent note, `senderNonce`): a field element that never appears on chain. */
  readonly senderCommitment: bigint;
  /** Opens the sender commitment, to prove later who paid. */
  readonly senderNonce: bigint;
  /**
   * b of the encryption, 249 bits: `prepareRange` needs the same one. It reveals the amount, so it must stay secret.
   */
  readonly scalar: bigint;
  /** Nullifier of the spent note, a field element. */
  readonly nullifier: bigint;
  /** Last second in which the pool settles it, Unix time. */
  readonly validUntil: bigint;
  /** keccak256(keccak256(resourceUrl), timestamp, senderCommitment). */
  readonly resourceDigest: Bytes32;
  /** keccak256 of the public signals: identifies the payment. */
  readonly digest: Bytes32;
  /** The note that the recipient gets. */
  readonly recipientNote: Note;
  /** The note that the payer gets back. Its amount may be 0. */
  readonly changeNote: Note;
}

/**
 * The payment circuit's input and public signals.
 * @throws SottoError INSUFFICIENT_NOTES (details.missing in base units), NOTE_NOT_IN_TREE, LEAF_NOT_FOUND and the codes
 *   of malformed arguments
 */
export function preparePayment(args: PaymentArguments): PaymentInputs {
  assertObject(args, "the payment");
  assertObject(args.recipient, "recipient");
  const amount = assertAmount(args.amount);
  const { wallet, encryptionKey, ownerTag: recipientTag } = args.recipient;
  const walletNumber = addressToBigInt(wallet, "recipient.wallet");
  const recipientQ = montgomeryEighth(encryptionKey);
  const spent = locate(args.tree, args.note);
  if (amount > spent.amount) {
    const missing = (amount - spent.amount).toString();
    const message = `the note holds ${spent.amount} base units, ${missing} fewer than the ${amount} to pay`;
    fail("INSUFFICIENT_NOTES", message, { missing, needed: amount.toString() });
  }

  const scalar = args.scalar ?? randomScalar();
  const { R, C, S } = encryptAmount(encryptionKey, amount, scalar);
  const delivered = noteSecrets(S.x, R.x);
  const recipientNote: Note = { amount, ownerTag: recipientTag, blinding: delivered.blinding };

  const nf = nullifier(spent.spendingKey, spent.commitment, spent.leafIndex);
  const change = changeSecrets(args.changeKey, nf, R.x);
  const changeAmount = spent.amount - amount;
  const changeNote: Note = { amount: changeAmount, ownerTag: args.changeTag, blinding: change.blinding };

  const senderNonce = nonceOf(args.nonceKey, nf, R.x);
  const senderCommitment = commitToSender(spent.ownerTag, senderNonce);
  const validUntil = validUntilOf(args.timestamp);
  const { chainId, pool, resourceUrl, timestamp } = args;
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment });

  const publicInput = {
    ...signalsOfOpening({
      deployment: { chainId, pool },
      recipient: { wallet, keyX: encryptionKey.x, ownerTag: recipientTag },
      resourceUrl,
      timestamp,
      senderCommitment,
    }),
    encryptedAmount: [R.x, hiddenCipherX(C.x, senderCommitment)],
    amountHint: hintOf(delivered.pad, amount),
    root: args.tree.root,
    nullifier: nf,
    commitments: [noteCommitment(recipientNote), noteCommitment(changeNote)],
    changeHint: hintOf(change.pad, changeAmount),
  };
  const publicSignals = publicSignalsOf("payment", publicInput);
  const privateInput = {
    spendingKey: spent.spendingKey,
    inputBlinding: spent.blinding,
    leafIndex: BigInt(spent.leafIndex),
    pathChildren: spent.path.pathChildren,
    wallet: walletNumber,
    recipientQ,
    recipientTag,
    senderNonce,
    scalar,
    amount,
    changeAmount,
    changeTag: args.changeTag,
    changeBlinding: change.blinding,
  };
  return {
    input: { ...publicInput, ...privateInput },
    publicSignals,
    encryptedAmount: packCiphertext({ R, C }),
    senderCommitment,
    senderNonce,
    scalar,
    nullifier: nf,
    validUntil,
    resourceDigest: digest,
    digest: signalsDigest(publicSignals),
    recipientNote,
    changeNote,
  };
}

/**
 * The same payment for another resource and time. Only the signal resourceUrl changes, which the circuit does not
 * compute with.
 * @throws SottoError the codes of malformed arguments
 */
export function withResource(
  payment: PaymentInputs,
  place: Deployment & Pick<PaymentArguments, "resourceUrl" | "timestamp">,
): PaymentInputs {
  assertObject(payment, "the payment");
  assertObject(place, "the place");
  const { chainId, pool, resourceUrl, timestamp } = place;
  const { senderCommitment } = payment;
  const validUntil = validUntilOf(timestamp);
  const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment });
  const context = paymentContext({ chainId, pool, validUntil, resourceDigest: digest });
  const publicSignals = payment.publicSignals.with(SIGNAL_POSITIONS.payment.resourceUrl, context);
  return {
    ...payment,
    input: { ...payment.input, resourceUrl: context },
    publicSignals,
    validUntil,
    resourceDigest: digest,
    digest: signalsDigest(publicSignals),
  };
}
