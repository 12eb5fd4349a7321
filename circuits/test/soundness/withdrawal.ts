import type { Attack } from "../kit/attack.ts";
import { divide, P } from "../kit/field.ts";
import type { Inputs } from "../kit/witness.ts";
import { commitment, nullifier } from "../model/hash.ts";
import { Random } from "../model/random.ts";
import { chooseWithdrawal, makeWithdrawal, type SpentNote, type WithdrawalChoices } from "../model/withdrawal.ts";
import { swap } from "./define.ts";

const DEPTH = 1;
const AMOUNTS = [1_000_000n, 250_000n, 0n];

/** Three inputs, two of them used; 400,000 leave the pool. `changes` falsifies notes, `shown` falsifies signals. */
function withdraw(
  changes: readonly Partial<SpentNote>[] = [],
  chosen: Partial<WithdrawalChoices> = {},
  shown: Inputs = {},
): Inputs {
  const base = chooseWithdrawal(new Random(9), { depth: DEPTH, inputs: 3, enabled: 2 });
  const notes = base.notes.map((note, i) => ({ ...note, amount: AMOUNTS[i] as bigint, ...changes[i] }));
  const amounts = { amount: 400_000n, outputAmount: 850_000n };
  return { ...makeWithdrawal({ ...base, ...amounts, ...chosen, notes }).inputs, ...shown };
}

const honest = withdraw() as Record<string, bigint> & { nullifiers: bigint[] };
const output = { tag: honest["outputTag"] as bigint, blinding: honest["outputBlinding"] as bigint };

const attack = (tag: string, title: string, own: Partial<Attack> & Pick<Attack, "inputs" | "harm">): Attack => ({
  tag: `withdrawal.${tag}`,
  title,
  main: "withdrawal.circom",
  shrink: { file: "withdrawal.circom", find: "= Withdrawal(10, 8);", replace: `= Withdrawal(${DEPTH}, 3);` },
  ...own,
});
const zero = (signal: string) => swap(`.value <-- ${signal}`, ".value <-- 0");
const UNUSED = { enabled: 0n, amount: 0n };

export const withdrawalAttacks: readonly Attack[] = [
  attack("first_enabled", "a withdrawal that spends no note", {
    inputs: () => withdraw([UNUSED, UNUSED, UNUSED], { amount: 0n, outputAmount: 0n }),
    harm: (read) => [0, 1, 2].every((i) => read(`nullifiers[${i}]`) === 0n),
  }),
  attack("enabled_boolean", "the nullifier of someone else's note, shown by a note worth 0", {
    inputs: () => {
      const victims = 4711n;
      const inputs = withdraw([{}, { amount: 0n }], { outputAmount: 600_000n });
      const own = (inputs["nullifiers"] as bigint[])[1] as bigint;
      // enabled * own = victims
      const enabled = divide(victims, own);
      return {
        ...inputs,
        enabled: [1n, enabled, 0n],
        nullifiers: [(inputs["nullifiers"] as bigint[])[0] as bigint, victims, 0n],
      };
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
    inputs: () => ({ ...withdraw(), amounts: [2_000_000n, 250_000n, 0n], ...outputOf(1_850_000n) }),
    harm: (read) => read("root") === honest["root"] && read("amounts[0]") > (AMOUNTS[0] as bigint),
  }),
  attack("root", "a note in a tree that the spender made up", {
    inputs: () => withdraw([], {}, { root: 666n }),
    harm: (read) => read("root") !== honest["root"],
  }),
  attack("unused_is_empty", "an unused input that is worth something", {
    inputs: () => ({ ...withdraw([{}, {}, { amount: 5n }], { outputAmount: 850_005n }) }),
    harm: (read) => read("nullifiers[2]") === 0n && read("amount") + read("outputAmount") === 1_250_005n,
  }),
  attack("nullifier", "nullifier 0 for a note that is spent", {
    inputs: () => withdraw([], {}, { nullifiers: [0n, honest.nullifiers[1] as bigint, 0n] }),
    harm: (read) => read("nullifiers[0]") === 0n && read("enabled[0]") === 1n,
  }),
  attack("nullifier", "a second nullifier for a note", {
    inputs: () => withdraw([], {}, { nullifiers: [honest.nullifiers[0] as bigint, nullifier(1n, 2n, 3n), 0n] }),
    harm: (read) => read("nullifiers[1]") !== honest.nullifiers[1],
  }),
  attack("nullifier", "a nullifier for an unused input", {
    inputs: () => withdraw([], {}, { nullifiers: [...honest.nullifiers.slice(0, 2), 4711n] }),
    harm: (read) => read("nullifiers[2]") === 4711n,
  }),
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
    inputs: () => withdraw([], {}, { commitment: commitment(10n ** 12n, output.tag, output.blinding) }),
    harm: (read) => read("commitment") !== honest["commitment"],
  }),
  ...["context", "changeHint"].map((signal) =>
    attack(signal === "context" ? signal : "change_hint", `the proof with another ${signal}`, {
      ...swap(`cut0.value <-- ${signal}`, "cut0.value <-- 1"),
      inputs: () => withdraw([], {}, { [signal]: 2n }),
      harm: (read) => read(signal) !== honest[signal],
    }),
  ),
];

function outputOf(outputAmount: bigint) {
  return { outputAmount, commitment: commitment(outputAmount, output.tag, output.blinding) };
}
