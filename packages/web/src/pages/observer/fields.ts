// The public values of a payment, explained. The order is that of the call's words.
import type { SettledCall, SettledEvent } from "@sotto/chain";
import { PAYMENT_SIGNAL } from "@sotto/protocol";

export interface Explanation {
  readonly title: string;
  readonly is: string;
  /** The parties that can open it, and with which key. */
  readonly opens: string;
  /** What it reveals, and why it reveals nothing else. */
  readonly reveals: string;
}

export const EXPLANATIONS = {
  proof: {
    title: "Proof",
    is: "A Groth16 proof in eight numbers: all other values were made by the rules from a real, unspent note.",
    opens: "Everyone can check it, as the contract does. Nobody can open it.",
    reveals: "Nothing but that the statement is true. The same payment could have many different proofs.",
  },
  recipientAddress: {
    title: "Recipient, hidden",
    is: "A hash of the recipient's wallet and shielded address, together with a secret that is new for each payment.",
    opens: "Those who have the secret: the payer, the service and the merchant's server.",
    reveals:
      "Nothing to others: without the secret, they cannot test a guess. Two payments to one recipient look unrelated.",
  },
  resourceUrl: {
    title: "Purpose, hidden",
    is: "A hash of the chain, the pool, the deadline and the resource digest below. It binds the proof to this one purpose.",
    opens:
      "Those who know the URL, the time and the payment's secret: the payer, the service and the merchant's server.",
    reveals: "Nothing to others. A list of well-known URLs does not help without the secret.",
  },
  ephemeralX: {
    title: "One-time key",
    is: "The first half of the encrypted amount (ElGamal): a random point that the payer made for this payment.",
    opens: "The merchant's viewing key turns it into the secret that this payer and this merchant share.",
    reveals: "Nothing: it is random, and never used again.",
  },
  hiddenCipherX: {
    title: "Encrypted amount",
    is: "The second half of the encrypted amount, with the payment's secret added to it.",
    opens: "The service and the merchant's server subtract the secret. They can then test guesses of the amount.",
    reveals:
      "Nothing to others: with an unknown secret added, every value is equally likely. Not even a guess can be tested.",
  },
  amountHint: {
    title: "Amount for the merchant",
    is: "The amount, plus a number that is used once (a one-time pad). The merchant reads the exact amount from it.",
    opens: "The merchant's viewing key, and the payer.",
    reveals: "Nothing to others: for each amount there is a pad that fits.",
  },
  root: {
    title: "Root of the tree",
    is: "The fingerprint of all notes that were in the pool's tree when the payer made the proof.",
    opens: "Everyone: it was public before. The crowd below is counted from it.",
    reveals:
      "That the spent note is one of those notes, but not which one. A very recent root narrows the crowd in time.",
  },
  nullifier: {
    title: "Nullifier of the spent note",
    is: "The mark that spending leaves: a hash of the note, its position and its spending key. The pool refuses it a second time.",
    opens: "Only the owner of the note can compute it, and so knows which note it belongs to.",
    reveals: "That some note is spent now. Without the spending key, it matches every note equally well.",
  },
  recipientCommitment: {
    title: "New note of the merchant",
    is: "The hash of a new note: amount, owner and a random number. It becomes a leaf of the tree.",
    opens: "The merchant, with its viewing key. Spending it takes the spending key.",
    reveals: "That there is a new note. Amount and owner cannot be guessed from it, because of the random number.",
  },
  changeCommitment: {
    title: "New note of the payer",
    is: "What is left of the spent note, as a new note. Every payment makes one, even if nothing is left.",
    opens: "The payer.",
    reveals: "That there is a new note: not how much is left.",
  },
  changeHint: {
    title: "Change for the payer",
    is: "The amount that is left, plus a one-time pad, so that a wallet restored from its words finds it.",
    opens: "The payer's change key.",
    reveals: "Nothing to others, like the amount for the merchant.",
  },
  validUntil: {
    title: "Deadline",
    is: "The last second in which the pool accepts the payment: three minutes after the payer made it, in full minutes.",
    opens: "Everyone.",
    reveals: "Roughly when the payment was made, which its block shows anyway.",
  },
  resourceDigest: {
    title: "Resource digest",
    is: "A hash of what is paid for, the exact time and the payment's secret.",
    opens: "Those who have the secret: the payer, the service and the merchant's server.",
    reveals: "Nothing to others, like the hidden purpose, which is computed from it.",
  },
  digest: {
    title: "Digest",
    is: "A hash of the signals above. With the nullifier, it identifies the payment.",
    opens: "Everyone can compute it from the call.",
    reveals: "No more than the signals do.",
  },
  leafIndex: {
    title: "Position of the new notes",
    is: "The leaf that the merchant's new note will have in the tree. The payer's is the next one.",
    opens: "Everyone.",
    reveals: "How many notes the pool had. Positions are assigned in order of arrival.",
  },
} as const satisfies Record<string, Explanation>;

export type FieldName = keyof typeof EXPLANATIONS;

const WORD = 32;
const PROOF_WORDS = 8;

const SIGNAL_NAMES = Object.keys(PAYMENT_SIGNAL) as readonly (keyof typeof PAYMENT_SIGNAL)[];

export interface FieldValue {
  readonly name: FieldName;
  /** 32 bytes each, hex with 0x. */
  readonly words: readonly string[];
  /** Offset in the calldata, bytes; undefined for values of the event alone. */
  readonly offset: number | undefined;
}

const hex = (word: bigint): string => `0x${word.toString(16).padStart(2 * WORD, "0")}`;

/**
 * All public values of a payment: those of the call, if it is known, and those of the event.
 * @returns in the order of the call
 */
export function fieldsOf(event: SettledEvent, call: SettledCall | undefined): FieldValue[] {
  const ofEvent = (name: FieldName, word: bigint): FieldValue => ({ name, words: [hex(word)], offset: undefined });
  const added = [ofEvent("digest", BigInt(event.digest)), ofEvent("leafIndex", BigInt(event.leafIndex))];
  if (call === undefined) {
    const { ephemeralX, hiddenCipherX, amountHint, nullifier, recipientCommitment, changeCommitment, changeHint } =
      event;
    return [
      ofEvent("ephemeralX", ephemeralX),
      ofEvent("hiddenCipherX", hiddenCipherX),
      ofEvent("amountHint", amountHint),
      ofEvent("nullifier", nullifier),
      ofEvent("recipientCommitment", recipientCommitment),
      ofEvent("changeCommitment", changeCommitment),
      ofEvent("changeHint", changeHint),
      ...added,
    ];
  }
  const { proof, signals, validUntil, resourceDigest, offset } = call;
  const at = (words: number): number => offset + words * WORD;
  const last = PROOF_WORDS + signals.length;
  return [
    { name: "proof", words: proof.map(hex), offset },
    ...SIGNAL_NAMES.map((name, i) => ({ name, words: [hex(signals[i]!)], offset: at(PROOF_WORDS + i) })),
    { name: "validUntil", words: [hex(validUntil)], offset: at(last) },
    { name: "resourceDigest", words: [hex(resourceDigest)], offset: at(last + 1) },
    ...added,
  ];
}

/** The payment in a call that an event reports; undefined if the call does not contain it. */
export const callOf = (event: SettledEvent, calls: readonly SettledCall[] | undefined): SettledCall | undefined =>
  calls?.find(({ signals }) => signals[PAYMENT_SIGNAL.nullifier] === event.nullifier);
