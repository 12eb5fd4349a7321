import { divide, P } from "@sotto/certify/check/field";
import type { Attack } from "../kit/attack.ts";
import type { Inputs } from "../kit/witness.ts";
import { commitment } from "../model/hash.ts";
import { Random } from "../model/random.ts";
import {
  chooseWithdrawal,
  makeWithdrawal,
  type SpentNote,
  shownFor,
  type Withdrawal,
  type WithdrawalChoices,
} from "../model/withdrawal.ts";
import { swap } from "./define.ts";

const DEPTH = 1;
const AMOUNTS = [1_000_000n, 250_000n, 0n];

/** Three inputs, two of them used; 400,000 leave the pool. `changes` falsifies notes. */
function make(changes: readonly Partial<SpentNote>[] = [], chosen: Partial<WithdrawalChoices> = {}): Withdrawal {
  const base = chooseWithdrawal(new Random(9), { depth: DEPTH, inputs: 3, enabled: 2 });
  const notes = base.notes.map((note, i) => ({ ...note, amount: AMOUNTS[i] as bigint, ...changes[i] }));
  const amounts = { amount: 400_000n, outputAmount: 850_000n };
  return makeWithdrawal({ ...base, ...amounts, ...chosen, notes });
}

/** Positions in the statement: amount, root, three nullifiers, commitment. */
const [AMOUNT, ROOT, NULLIFIERS, COMMITMENT] = [0, 1, 2, 5] as const;

/** The inputs of a withdrawal whose public signals are those of its statement with some words replaced. */
function withdraw(
  changes: readonly Partial<SpentNote>[] = [],
  chosen: Partial<WithdrawalChoices> = {},
  claimed: Readonly<Record<number, bigint>> = {},
): Inputs {
  const { inputs, statement, choices } = make(changes, chosen);
  const claim = statement.map((word, i) => claimed[i] ?? word);
  return { ...inputs, ...shownFor(claim, choices.challenge) };
}

const honest = make();
const [first, second] = honest.statement.slice(NULLIFIERS) as [bigint, bigint];
const output = { tag: honest.choices.outputTag, blinding: honest.choices.outputBlinding };

const attack = (tag: string, title: string, own: Partial<Attack> & Pick<Attack, "inputs" | "harm">): Attack => ({
  tag: `withdrawal.${tag}`,
  title,
  main: "withdrawal.circom",
  shrink: { file: "withdrawal.circom", find: "= Withdrawal(10, 8);", replace: `= Withdrawal(${DEPTH}, 3);` },
  ...own,
});
const zero = (signal: string) => swap(`.value <-- ${signal}`, ".value <-- 0");
const UNUSED = { enabled: 0n, amount: 0n };

/** Shows another nullifier at this index than the flag and the note give. */
const nullifier = (title: string, index: number, shown: bigint): Attack =>
  attack("nullifier", title, {
    ...swap(
      "nullifiers[i] <-- enabled[i] * spentNullifiers[i]",
      `nullifiers[i] <-- i == ${index} ? ${shown} : enabled[i] * spentNullifiers[i]`,
    ),
    inputs: () => withdraw([], {}, { [NULLIFIERS + index]: shown }),
    harm: (read) => read(`nullifiers[${index}]`) !== honest.statement[NULLIFIERS + index],
  });

/** The honest proof, shown for the evaluation of other words. */
const evaluation = (title: string, claimed: Readonly<Record<number, bigint>>): Attack =>
  attack("evaluation", title, {
    inputs: () => ({ ...honest.inputs, evaluation: withdraw([], {}, claimed)["evaluation"]! }),
    harm: (read) => read("evaluation") !== honest.inputs["evaluation"],
  });

export const withdrawalAttacks: readonly Attack[] = [
  attack("first_enabled", "a withdrawal that spends no note", {
    inputs: () => withdraw([UNUSED, UNUSED, UNUSED], { amount: 0n, outputAmount: 0n }),
    harm: (read) => [0, 1, 2].every((i) => read(`nullifiers[${i}]`) === 0n),
  }),
  attack("enabled_boolean", "the nullifier of someone else's note, shown by a note worth 0", {
    inputs: () => {
      const victims = 4711n;
      const [notes, chosen] = [[{}, { amount: 0n }], { outputAmount: 600_000n }];
      const own = make(notes, chosen).statement[NULLIFIERS + 1] as bigint;
      // enabled * own = victims
      const enabled = [1n, divide(victims, own), 0n];
      return { ...withdraw(notes, chosen, { [NULLIFIERS + 1]: victims }), enabled };
    },
    harm: (read) => read("nullifiers[1]") === 4711n,
  }),
  attack("input_range", "a note of -5", {
    ...swap("cut0[i].value <-- amounts[i]", "cut0[i].value <-- i == 1 ? 0 : amounts[i]"),
    inputs: () => withdraw([{}, { amount: P - 5n }], { outputAmount: 599_995n }),
    harm: (read) => read("amounts[1]") >= 2n ** 64n,
  }),
  attack("spent_note", "more value than the note has", {
    ...swap("cut0[i].amount <-- amounts[i]", "cut0[i].amount <-- i == 0 ? 1000000 : amounts[i]"),
    inputs: () => ({ ...withdraw([], { outputAmount: 1_850_000n }), amounts: [2_000_000n, 250_000n, 0n] }),
    harm: (read) => read("root") === honest.statement[ROOT] && read("amounts[0]") > (AMOUNTS[0] as bigint),
  }),
  attack("root", "a note in a tree that the spender made up", {
    inputs: () => ({ ...withdraw([], {}, { [ROOT]: 666n }), root: 666n }),
    harm: (read) => read("root") !== honest.statement[ROOT],
  }),
  attack("unused_is_empty", "an unused input that is worth something", {
    inputs: () => withdraw([{}, {}, { amount: 5n }], { outputAmount: 850_005n }),
    harm: (read) => read("nullifiers[2]") === 0n && read("amount") + read("outputAmount") === 1_250_005n,
  }),
  nullifier("nullifier 0 for a note that is spent", 0, 0n),
  nullifier("a second nullifier for a note", 1, 4711n),
  nullifier("a nullifier for an unused input", 2, 4711n),
  attack("amount_range", "a negative amount, which enlarges the output note", {
    ...zero("amount"),
    inputs: () => withdraw([], { amount: P - 5n, outputAmount: 1_250_005n }),
    harm: (read) => read("outputAmount") > 1_250_000n,
  }),
  attack("output_range", "a negative output note, which enlarges the amount", {
    ...zero("outputAmount"),
    inputs: () => withdraw([], { amount: 1_250_005n, outputAmount: P - 5n }),
    harm: (read) => read("amount") > 1_250_000n,
  }),
  attack("balance", "outputs worth more than the inputs", {
    inputs: () => withdraw([], { amount: 400_001n }),
    harm: (read) => read("amount") + read("outputAmount") > 1_250_000n,
  }),
  attack("output_note", "an output note of another amount", {
    ...swap("outputNote <-- cut0.commitment", `outputNote <-- ${commitment(10n ** 12n, output.tag, output.blinding)}`),
    inputs: () => withdraw([], {}, { [COMMITMENT]: commitment(10n ** 12n, output.tag, output.blinding) }),
    harm: (read) => read("outputNote") !== honest.statement[COMMITMENT],
  }),
  attack("hash", "a hash of other values, so that these can be chosen after the challenge", {
    inputs: () => ({ ...honest.inputs, statementHash: withdraw([], {}, { [ROOT]: 666n })["statementHash"]! }),
    harm: (read) => read("statementHash") !== honest.inputs["statementHash"],
  }),
  attack("hash", "a hash of the same values in another order", {
    inputs: () => {
      const swapped = { [NULLIFIERS]: second, [NULLIFIERS + 1]: first };
      return { ...honest.inputs, statementHash: withdraw([], {}, swapped)["statementHash"]! };
    },
    harm: (read) => read("statementHash") !== honest.inputs["statementHash"],
  }),
  evaluation("an amount larger than the proved one", { [AMOUNT]: 400_001n }),
  evaluation("a root other than the proved one", { [ROOT]: 666n }),
  evaluation("a nullifier of somebody else's note", { [NULLIFIERS]: 4711n }),
  evaluation("a nullifier left out", { [NULLIFIERS + 1]: 0n }),
  evaluation("nullifiers in another order", { [NULLIFIERS]: second, [NULLIFIERS + 1]: first }),
  evaluation("a commitment other than the proved one", { [COMMITMENT]: 4711n }),
  attack("evaluation", "the proof with another challenge, which another context or hint has", {
    inputs: () => ({ ...honest.inputs, challenge: honest.choices.challenge + 1n }),
    harm: (read) => read("challenge") !== honest.choices.challenge,
  }),
];
