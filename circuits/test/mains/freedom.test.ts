import { circuitNames } from "@sotto/keys/circuits/paths";
import { isAffected } from "@sotto/keys/source/changed";
import { edit, type Sources } from "@sotto/keys/source/sources";
import { readTags, removeGroup, type Tag } from "@sotto/keys/source/tags";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { compile } from "../kit/compile.ts";
import { openWires } from "../kit/determined.ts";
import { sources } from "../kit/gadget.ts";
import { makeAppend, treeOf } from "../model/append.ts";
import { chooseOrigin, makeOrigin } from "../model/origin.ts";
import { choosePayment, makePayment } from "../model/payment.ts";
import { Random } from "../model/random.ts";
import { makeRange } from "../model/range.ts";
import { chooseWithdrawal, makeWithdrawal } from "../model/withdrawal.ts";

const random = new Random(25);
/** Shrunk mains, each with a statement. */
const CASES = {
  payment: ["Payment(10)", "Payment(2)", () => makePayment(choosePayment(random, { depth: 2 }))],
  elgamal_range: ["ElgamalRange()", "ElgamalRange()", () => makeRange(random)],
  withdrawal: [
    "Withdrawal(10, 8)",
    "Withdrawal(1, 3)",
    () => makeWithdrawal(chooseWithdrawal(random, { depth: 1, inputs: 3, enabled: 2 })),
  ],
  note_append: ["NoteAppend(10)", "NoteAppend(3)", () => makeAppend(treeOf(3, 77), 77n, [1n, 2n, 3n], 99n)],
  origin: ["Origin(10)", "Origin(2)", () => makeOrigin(chooseOrigin(random, { depth: 2 }))],
} as const;

async function openSignals(all: Sources, name: keyof typeof CASES): Promise<string[]> {
  const [find, replace, make] = CASES[name];
  const small = edit(all, [{ file: `${name}.circom`, find: `= ${find};`, replace: `= ${replace};` }]);
  const build = await compile(small, `${name}.circom`, "plain");
  const names = build.symbols.names();
  const witness = await build.witness(make().inputs);
  // Without simplification, a wire has the number of its label.
  return openWires(build.r1cs, witness).map((wire) => names.get(wire) ?? `wire ${wire}`);
}

describe("the inputs determine every signal of a witness", function () {
  slow(this, "circuits are compiled, and witnesses made");
  for (const name of circuitNames.filter((circuit) => isAffected(sources, `${circuit}.circom`)))
    it(name, async () => {
      expect(await openSignals(sources, name)).to.deep.equal([]);
    });

  it("detects a missing constraint (control)", async () => {
    for (const id of ["edwards.x", "signs.square", "double_and_add.second"]) {
      const tag = readTags(sources).find((candidate) => candidate.id === id) as Tag;
      expect(await openSignals(removeGroup(sources, tag), "elgamal_range"), id).not.to.deep.equal([]);
    }
  });
});
