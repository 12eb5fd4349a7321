import { finishNames } from "@sotto/keys/source/anonymous";
import { edit } from "@sotto/keys/source/sources";
import { readTags, removeGroup, type Tag, withoutConstraints } from "@sotto/keys/source/tags";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import type { Attack } from "./attack.ts";
import { Cheaters } from "./cheaters.ts";
import { compile } from "./compile.ts";
import { violations } from "./evaluate.ts";
import { runAttack } from "./run-attack.ts";
import { GeneratorRefusal } from "./witness.ts";

// A circuit with every form of statement that the kit parses.
const GADGET = `pragma circom 2.2.0;
include "circomlib/circuits/bitify.circom";

template Square() {
    signal input in;
    signal output out;
    // [C:square.product] out is the square.
    out <== in * in;
}

template Sum(n) {
    signal input in[n];
    signal input total;

    signal squares[n];
    for (var i = 0; i < n; i++) {
        // [C:sum.square] each part is the square
        // of its input.
        squares[i] <== Square()(in[i]);
    }
    var sum = 0;
    for (var i = 0; i < n; i++) { sum += squares[i]; }
    // [C:sum.equal] the total is their sum.
    sum === total;

    // [C:sum.small] and it has 4 bits.
    signal bits[4] <== Num2Bits(4)(total);
    _ <== Square()(total);
}
`;
const sources = new Map([["lib/gadget.circom", GADGET]]);
const main = `pragma circom 2.2.0;
include "lib/gadget.circom";
component main { public [total] } = Sum(2);`;
const tagged = (id: string): Tag => {
  const tag = readTags(sources).find((candidate) => candidate.id === id);
  if (tag === undefined) throw new Error(`no tag ${id}`);
  return tag;
};
/** Runs one attack together with others. */
const attack = (own: Attack) => runAttack(new Cheaters(sources, [lie, own, lie]), own);
const lie: Attack = {
  tag: "sum.square",
  title: "a square that is none",
  main,
  edits: [{ find: "squares[i] <-- cut0[i].out", replace: "squares[i] <-- 1" }],
  inputs: () => ({ in: [3, 2], total: 2 }),
  harm: (read) => read("total") !== 3n ** 2n + 2n ** 2n,
};

describe("kit", function () {
  slow(this, "circuits are compiled, and witnesses made");
  it("reads tags with their reason, and the statements up to a blank line, a tag or the block's end", () => {
    const found = readTags(sources).map((tag) => [tag.id, tag.reason, GADGET.slice(tag.start, tag.end).trim()]);
    expect(found).to.deep.equal([
      ["square.product", "out is the square.", "out <== in * in;"],
      ["sum.square", "each part is the square of its input.", "squares[i] <== Square()(in[i]);"],
      ["sum.equal", "the total is their sum.", "sum === total;"],
      ["sum.small", "and it has 4 bits.", "signal bits[4] <== Num2Bits(4)(total);\n    _ <== Square()(total);"],
    ]);
  });

  it("rejects tags that are used twice, or lack a reason or a statement", () => {
    const withTag = (text: string) => () => readTags(new Map([["x.circom", text]]));
    expect(withTag("// [C:a] r\nx === y;\n\n// [C:a] r\nx === y;")).to.throw("already in x.circom:1");
    expect(withTag("// [C:a]\nx === y;")).to.throw("no reason");
    expect(withTag("// [C:a] r\n\nx === y;")).to.throw("no statement");
  });

  it("removes constraints and keeps hints", () => {
    expect(withoutConstraints("a <-- b;\na * b === c;\nd <== e; f ==> g;", "x").replace(/\s+/g, " ")).to.equal(
      "a <-- b; d <-- e; f --> g;",
    );
    expect(() => withoutConstraints("a <-- b;", "x:1")).to.throw("x:1: the statements constrain nothing");
  });

  it("names anonymous components in loops, nested arguments and lists of outputs", () => {
    const text = finishNames(removeGroup(sources, tagged("sum.square")).get("lib/gadget.circom") as string);
    const name = /component (Square_0_\d{8})\[n\];/.exec(text)?.[1];
    expect(text).to.contain(`${name}[i] = Square(); ${name}[i].in <-- in[i]; squares[i] <-- ${name}[i].out;`);
  });

  it("accepts a correct witness and rejects one with any single wire changed, at both levels", async () => {
    for (const level of ["full", "plain"] as const) {
      const build = await compile(sources, main, level);
      const witness = await build.witness({ in: [3, 2], total: 13 });
      expect(violations(build.r1cs, witness)).to.deep.equal([]);
      for (let wire = 1; wire < witness.length; wire++) {
        const changed = witness.with(wire, (witness[wire] as bigint) + 1n);
        expect(violations(build.r1cs, changed), `wire ${wire}`).not.to.deep.equal([]);
      }
    }
  });

  it("shows that an attack breaks only its group and that the shipped circuit rejects it", async () => {
    const outcome = await attack(lie);
    // For each of two loop rounds: the input and the output.
    expect(outcome).to.deep.equal({
      foreign: 0,
      removed: 4,
      brokenElsewhere: 0,
      brokenInGroup: 2,
      accepted: false,
      harm: true,
    });
  });

  it("does not count an attack that fails for another reason, or proves nothing false", async () => {
    const honest = await attack({
      ...lie,
      edits: [],
      inputs: () => ({ in: [3, 2], total: 13 }),
    });
    expect(honest).to.include({ brokenInGroup: 0, accepted: true, harm: false });
    const elsewhere = attack({ ...lie, inputs: () => ({ in: [3, 2], total: 3 }) });
    expect(await elsewhere.catch((error: unknown) => error)).to.be.instanceOf(GeneratorRefusal);
    const foreign = await attack({
      ...lie,
      inputs: () => ({ in: [3, 2], total: 13 }),
      edits: [{ find: "sum === total", replace: "sum + total === 2 * total" }],
    });
    expect(foreign).to.include({ foreign: 0 });
    const added = await attack({
      ...lie,
      inputs: () => ({ in: [3, 2], total: 13 }),
      edits: [{ find: "sum === total", replace: "in[0] === 3" }],
    });
    expect(added).to.include({ foreign: 1 });
  });

  it("runs an attack next to one that does not compile or whose generator fails", async () => {
    const broken = { ...lie, edits: [{ find: "sum === total", replace: "no circom" }] };
    const refused = { ...lie, inputs: () => ({ in: [3, 2], total: 3 }) };
    const cheaters = new Cheaters(sources, [broken, lie, refused]);
    expect(await runAttack(cheaters, lie)).to.include({ foreign: 0, brokenElsewhere: 0, accepted: false });
    const failure = await cheaters.values(broken).catch((error: Error) => error.message);
    expect(failure).to.contain("error[").and.to.contain("no circom");
  });

  it("reports an edit that no longer fits the source", () => {
    expect(() => edit(sources, [{ file: "lib/gadget.circom", find: "nowhere", replace: "" }])).to.throw(
      "occurs 0 times",
    );
  });
});
