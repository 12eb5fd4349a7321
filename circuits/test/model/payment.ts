import { BASE8, montgomeryEighth, multiply, ORDER, type Pair, type Point } from "@sotto/certify/check/curve";
import { mod } from "@sotto/certify/check/field";
import type { Inputs } from "../kit/witness.ts";
import { type Encryption, encrypt } from "./encrypt.ts";
import { commitment, DOMAIN, nullifier, ownerTag, poseidon } from "./hash.ts";
import type { Random } from "./random.ts";
import { Tree } from "./tree.ts";

/** All values that define a payment. Values that a test does not choose are random. */
export interface PaymentChoices {
  depth: number;
  spendingKey: bigint;
  inputBlinding: bigint;
  leafIndex: bigint;
  /** The tree without the spent note, which is added to it. */
  tree: Tree;
  wallet: bigint;
  recipientKey: Point;
  recipientQ: Pair;
  recipientTag: bigint;
  senderNonce: bigint;
  scalar: bigint;
  amount: bigint;
  changeAmount: bigint;
  changeTag: bigint;
  changeBlinding: bigint;
  resourceUrl: bigint;
  changeHint: bigint;
  /** The encrypted amount, if it differs from `amount`. */
  encryptedAmount?: bigint;
}

export interface Payment {
  choices: PaymentChoices;
  inputs: Inputs;
  encryption: Encryption;
  /** The public signals as the protocol defines them, in order. */
  signals: bigint[];
}

export function choosePayment(random: Random, chosen: Partial<PaymentChoices> = {}): PaymentChoices {
  const depth = chosen.depth ?? 10;
  const recipientKey = chosen.recipientKey ?? multiply(BASE8, random.below(ORDER - 1n) + 1n);
  return {
    depth,
    spendingKey: random.field(),
    inputBlinding: random.field(),
    leafIndex: random.below(8n ** BigInt(depth)),
    tree: new Tree(depth),
    wallet: random.bits(160),
    recipientKey,
    recipientQ: chosen.recipientQ ?? montgomeryEighth(recipientKey),
    recipientTag: random.field(),
    senderNonce: random.field(),
    scalar: random.bits(249),
    amount: random.bits(40),
    changeAmount: random.bits(40),
    changeTag: random.field(),
    changeBlinding: random.field(),
    resourceUrl: random.field(),
    changeHint: random.field(),
    ...chosen,
  };
}

/** The model's payment for these choices: the circuit's inputs and the expected signals. */
export function makePayment(choices: PaymentChoices): Payment {
  const { amount, changeAmount, leafIndex, spendingKey, tree } = choices;
  const spentTag = ownerTag(spendingKey);
  const spent = commitment(mod(amount + changeAmount), spentTag, choices.inputBlinding);
  tree.set(leafIndex, spent);
  const encryption = encrypt(choices.recipientKey, choices.encryptedAmount ?? amount, choices.scalar);
  const senderCommitment = poseidon([spentTag, choices.senderNonce], DOMAIN.senderCommitment);
  const publicInputs = {
    recipientAddress: poseidon(
      [choices.wallet, choices.recipientKey.x, choices.recipientTag, senderCommitment],
      DOMAIN.recipient,
    ),
    resourceUrl: choices.resourceUrl,
    // C itself would let an observer confirm a guessed amount, so the sender commitment hides it.
    encryptedAmount: [encryption.R.x, mod(encryption.C.x + senderCommitment)],
    amountHint: mod(encryption.pad + amount),
    root: tree.root,
    nullifier: nullifier(spendingKey, spent, leafIndex),
    commitments: [
      commitment(mod(amount), choices.recipientTag, encryption.blinding),
      commitment(changeAmount, choices.changeTag, choices.changeBlinding),
    ],
    changeHint: choices.changeHint,
  };
  const { depth: _, tree: __, recipientKey: ___, encryptedAmount: ____, ...witness } = choices;
  return {
    choices,
    inputs: { ...publicInputs, ...witness, pathChildren: tree.path(leafIndex) },
    encryption,
    signals: Object.values(publicInputs).flat(),
  };
}
