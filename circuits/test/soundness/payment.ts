import { mod, P } from "@sotto/certify/check/field";
import type { Attack } from "../kit/attack.ts";
import type { Inputs } from "../kit/witness.ts";
import { commitment, DOMAIN, nullifier, ownerTag, poseidon } from "../model/hash.ts";
import { choosePayment, makePayment, type PaymentChoices } from "../model/payment.ts";
import { Random } from "../model/random.ts";
import { Tree } from "../model/tree.ts";
import { swap } from "./define.ts";

const DEPTH = 2;
const AMOUNT = 1_000_000n;
const CHANGE = 250_000n;

/** Always the same payment, except for the chosen values; `shown` overrides public signals. */
function pay(chosen: Partial<PaymentChoices> = {}, shown: Inputs = {}): Inputs {
  const choices = choosePayment(new Random(7), { depth: DEPTH, amount: AMOUNT, changeAmount: CHANGE, ...chosen });
  return { ...makePayment({ ...choices, tree: new Tree(DEPTH) }).inputs, ...shown };
}

const honest = makePayment(choosePayment(new Random(7), { depth: DEPTH, amount: AMOUNT, changeAmount: CHANGE }));
const [recipientAddress, , rx, cx, hint, root, spentNullifier, recipientNote, changeNote] = honest.signals as bigint[];
const spentTag = ownerTag(honest.choices.spendingKey);
const { pad, blinding } = honest.encryption;

const attack = (tag: string, title: string, own: Partial<Attack> & Pick<Attack, "inputs">): Attack => ({
  tag: `payment.${tag}`,
  title,
  main: "payment.circom",
  shrink: { file: "payment.circom", find: "= Payment(10);", replace: `= Payment(${DEPTH});` },
  // A public signal differs from the model of this payment.
  harm: (read) =>
    [
      read("recipientAddress") !== recipientAddress,
      read("encryptedAmount[0]") !== rx,
      read("encryptedAmount[1]") !== cx,
      read("amountHint") !== hint,
      read("root") !== root,
      read("nullifier") !== spentNullifier,
      read("commitments[0]") !== recipientNote,
      read("commitments[1]") !== changeNote,
    ].some((differs) => differs),
  ...own,
});

/** A payment of a negative amount, so that the change exceeds the spent note. Its ciphertext contains 0. */
const negative = () => pay({ amount: P - 5n, changeAmount: 15n, encryptedAmount: 0n });

export const paymentAttacks: readonly Attack[] = [
  attack("amount_range", "a negative amount, which leaves more change than was spent", {
    ...swap("cut0.value <-- amount", "cut0.value <-- 0"),
    inputs: negative,
    harm: (read) => read("changeAmount") > 10n && read("amount") + read("changeAmount") === P + 10n,
  }),
  attack("amount_range", "an amount of 2^64, encrypted as 0", {
    ...swap("cut0.value <-- amount", "cut0.value <-- 0"),
    inputs: () => pay({ amount: 2n ** 64n, encryptedAmount: 0n }),
    harm: (read) => read("amount") >= 2n ** 64n,
  }),
  attack("amount_range", "an encryption of another amount", {
    ...swap("cut0.value <-- amount", "cut0.value <-- 7"),
    inputs: () => pay({ encryptedAmount: 7n }),
    harm: (read) => read("encryptedAmount[1]") !== cx && read("commitments[0]") === recipientNote,
  }),
  attack("change_range", "a negative change, which pays more than was spent", {
    ...swap("cut0.value <-- changeAmount", "cut0.value <-- 0"),
    inputs: () => pay({ amount: 15n, changeAmount: P - 5n }),
    harm: (read) => read("amount") > 10n && read("amount") + read("changeAmount") === P + 10n,
  }),
  attack("change_range", "a change of 2^64", {
    ...swap("cut0.value <-- changeAmount", "cut0.value <-- 0"),
    inputs: () => pay({ changeAmount: 2n ** 64n }),
    harm: (read) => read("changeAmount") >= 2n ** 64n,
  }),
  attack("spent_note", "more value than the note has", {
    ...swap("cut0.amount <-- amount + changeAmount", `cut0.amount <-- ${AMOUNT + CHANGE}`),
    inputs: () => {
      const rich = pay({ amount: 2n ** 63n });
      return { ...rich, root, nullifier: spentNullifier, pathChildren: pay()["pathChildren"] } as Inputs;
    },
    harm: (read) => read("root") === root && read("amount") + read("changeAmount") > AMOUNT + CHANGE,
  }),
  attack("root", "a note in a tree that the payer made up", { inputs: () => pay({}, { root: 666n }) }),
  attack("nullifier", "a second nullifier for the note", {
    inputs: () => pay({}, { nullifier: nullifier(honest.choices.spendingKey, 1n, 2n) }),
  }),
  attack("nullifier", "nullifier 0", { inputs: () => pay({}, { nullifier: 0n }) }),
  attack("encryption", "an encryption of another amount", {
    ...swap(
      "cut0.amountBits <-- amountBits;",
      "for (var s = 0; s < 64; s++) { cut0.amountBits[s] <-- s == 5 ? 1 - amountBits[s] : amountBits[s]; }",
    ),
    inputs: () => pay({ encryptedAmount: AMOUNT ^ 32n }),
  }),
  attack("ephemeral", "an R from which the recipient cannot derive the secrets", {
    inputs: () => pay({}, { encryptedAmount: [666n, cx as bigint] }),
  }),
  attack("cipher", "a C of another amount", { inputs: () => pay({}, { encryptedAmount: [rx as bigint, 666n] }) }),
  attack("secrets", "a note with a blinding the recipient cannot derive", {
    ...swap("recipientBlinding <-- cut0.blinding", "recipientBlinding <-- cut0.blinding + 1"),
    inputs: () =>
      pay(
        {},
        {
          commitments: [commitment(AMOUNT, honest.choices.recipientTag, blinding + 1n), changeNote as bigint],
        },
      ),
  }),
  attack("hint", "a hint of another amount", { inputs: () => pay({}, { amountHint: pad + 10n * AMOUNT }) }),
  attack("recipient_note", "a note that belongs to nobody", {
    inputs: () => pay({}, { commitments: [666n, changeNote as bigint] }),
  }),
  attack("change_note", "more change than is left", {
    inputs: () =>
      pay(
        {},
        {
          commitments: [
            recipientNote as bigint,
            commitment(CHANGE + 1n, honest.choices.changeTag, honest.choices.changeBlinding),
          ],
        },
      ),
  }),
  attack("sender", "a payment in the name of another sender", {
    ...swap("senderCommitment <-- cut0.commitment", "senderCommitment <-- 4711"),
    inputs: () =>
      pay(
        {},
        {
          recipientAddress: addressWith(4711n),
          encryptedAmount: [rx as bigint, mod(honest.encryption.C.x + 4711n)],
        },
      ),
  }),
  attack("cipher", "a C without the sender commitment", {
    inputs: () => pay({}, { encryptedAmount: [rx as bigint, honest.encryption.C.x] }),
  }),
  attack("recipient", "a recipientAddress with another sender commitment", {
    inputs: () => pay({}, { recipientAddress: addressWith(poseidon([spentTag, 1n], DOMAIN.senderCommitment)) }),
  }),
  ...(["resource", "changeHint"] as const).map((name) => {
    const signal = name === "resource" ? "resourceUrl" : name;
    return attack(name === "resource" ? name : "change_hint", `the proof with another ${signal}`, {
      ...swap(`cut0.value <-- ${signal}`, "cut0.value <-- 1"),
      inputs: () => pay({}, { [signal]: 2n }),
      harm: (read) => read(signal) !== honest.signals[signal === "resourceUrl" ? 1 : 9],
    });
  }),
];

function addressWith(senderCommitment: bigint): bigint {
  const { wallet, recipientKey, recipientTag } = honest.choices;
  return poseidon([wallet, recipientKey.x, recipientTag, senderCommitment], DOMAIN.recipient);
}
