import { readFileSync } from "node:fs";
import { type Proof, prove, replayProof } from "@sotto/certify/internal";
import { circuitNames } from "@sotto/keys/circuits/paths";
import { isAffected } from "@sotto/keys/source/changed";
import { type Edit, edit, type Sources } from "@sotto/keys/source/sources";
import { readTags, removeGroup } from "@sotto/keys/source/tags";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { type Build, compile } from "../kit/compile.ts";
import { sources } from "../kit/gadget.ts";
import { Random } from "../model/random.ts";

const LONG = process.env["SOTTO_LONG"] === "1";
/** Single constraints removed per circuit. */
const DROPS = LONG ? 25 : 2;

const shrink = (name: string, find: string, replace: string): Edit => ({
  file: `${name}.circom`,
  find: `= ${find};`,
  replace: `= ${replace};`,
});
/** The mains, shrunk; small ones first. */
const MAINS = {
  origin: [shrink("origin", "Origin(10)", "Origin(2)")],
  note_append: [shrink("note_append", "NoteAppend(10)", "NoteAppend(4)")],
  withdrawal: [shrink("withdrawal", "Withdrawal(10, 8)", "Withdrawal(2, 2)")],
  elgamal_range: [],
  payment: [shrink("payment", "Payment(10)", "Payment(2)")],
} as const satisfies Record<string, readonly Edit[]>;
type Name = keyof typeof MAINS;

const build = (all: Sources, name: Name, level: "plain" | "full"): Promise<Build> =>
  compile(edit(all, MAINS[name]), `${name}.circom`, level, "constraints");

/** An .r1cs file without one of its constraints. */
function withoutConstraint(file: Buffer, dropped: number): Buffer {
  const parts: Buffer[] = [file.subarray(0, 12)];
  let position = 12;
  for (let section = 0; section < file.readUInt32LE(8); section++) {
    const head = Buffer.from(file.subarray(position, position + 12));
    const length = Number(file.readBigUInt64LE(position + 4));
    let body = file.subarray(position + 12, position + 12 + length);
    position += 12 + length;
    if (head.readUInt32LE(0) === 1) {
      body = Buffer.from(body);
      body.writeUInt32LE(body.readUInt32LE(60) - 1, 60);
    }
    if (head.readUInt32LE(0) === 2) {
      let [at, start] = [0, 0];
      for (let constraint = 0; constraint <= dropped; constraint++) {
        start = at;
        for (let side = 0; side < 3; side++) at += 4 + 36 * body.readUInt32LE(at);
      }
      body = Buffer.concat([body.subarray(0, start), body.subarray(at)]);
      head.writeBigUInt64LE(BigInt(body.length), 4);
    }
    parts.push(head, body);
  }
  return Buffer.concat(parts);
}

/** How a proof differs from that of the unchanged circuit; "nothing" if the change is not seen. */
function difference(
  proof: Proof,
  before: Proof,
): "free wire" | "unused input" | "asserting constraints" | "problem" | "nothing" {
  if (proof.problems.length > 0) return "problem";
  if (proof.free.length > before.free.length) return "free wire";
  if (proof.unused.length > before.unused.length) return "unused input";
  return proof.asserting.length !== before.asserting.length ? "asserting constraints" : "nothing";
}

describe("the certificate sees every removed constraint", function () {
  slow(this, "circuits are compiled and proven");
  const affected = (Object.keys(MAINS) as Name[]).filter((name) => isAffected(sources, `${name}.circom`));
  const chosen = LONG ? affected : affected.filter((name) => name === "withdrawal");

  for (const name of chosen)
    it(`${name}: of the source, at random`, async () => {
      const file = readFileSync((await build(sources, name, "plain")).files.r1cs);
      const before = prove(file, file);
      // A signal of the source that nothing uses stays free.
      expect(constrained(before, before.free)).to.deep.equal([]);
      const random = new Random(77);
      for (let i = 0; i < DROPS; i++) {
        const dropped = Number(random.below(BigInt(before.plain.constraints)));
        const rest = withoutConstraint(file, dropped);
        expect(difference(prove(rest, rest, resultsOf(before)), before), `constraint ${dropped}`).not.to.equal(
          "nothing",
        );
      }
    });

  for (const name of chosen)
    it(`${name}: of the shipped file, at random`, async () => {
      const plain = readFileSync((await build(sources, name, "plain")).files.r1cs);
      const full = await build(sources, name, "full");
      const shipped = readFileSync(full.files.r1cs);
      const { constraints } = full.r1cs;
      const random = new Random(78);
      for (let i = 0; i < DROPS; i++) {
        const dropped = Number(random.below(BigInt(constraints)));
        const proof = prove(withoutConstraint(shipped, dropped), plain);
        expect(proof.problems, `constraint ${dropped}`).not.to.deep.equal([]);
      }
    });

  it("names the circuits of the project", () => {
    expect(Object.keys(MAINS).sort()).to.deep.equal([...circuitNames].sort());
  });
});

// 129 groups take minutes.
if (LONG)
  describe("the certificate sees every removed constraint group", function () {
    slow(this, "each group is removed from a circuit, which is compiled and proven");
    const baselines = new Map<Name, Proof>();
    const counts = new Map<string, number>();
    for (const tag of readTags(sources))
      it(tag.id, async () => {
        // A file can be part of a circuit that does not use the group.
        let seen: ReturnType<typeof difference> = "nothing";
        for (const name of (Object.keys(MAINS) as Name[]).filter((main) => isUsed(tag.file, main))) {
          const file = readFileSync((await build(sources, name, "plain")).files.r1cs);
          const baseline = baselines.get(name) ?? prove(file, file);
          baselines.set(name, baseline);
          const mutated = await build(removeGroup(sources, tag), name, "plain");
          const rest = readFileSync(mutated.files.r1cs);
          const proof = prove(rest, rest, resultsOf(baseline));
          seen = difference(proof, baseline);
          if (seen === "nothing") continue;
          // The second checker leaves the same wires undetermined.
          const unused = new Set(proof.unused);
          const left = constrained(proof, replayProof(mutated.r1cs, proof)).filter((wire) => !unused.has(wire));
          expect(left).to.deep.equal(constrained(proof, proof.free));
          break;
        }
        expect(seen).not.to.equal("nothing");
        counts.set(seen, (counts.get(seen) ?? 0) + 1);
      });

    after(() => console.log(`      ${[...counts].map(([seen, count]) => `${count} ${seen}`).join(", ")}`));
  });

/** Public signals that the other inputs determine, as wires. */
const resultsOf = ({ plain, determined }: Proof): number[] =>
  Array.from({ length: plain.publicInputs }, (_, i) => 1 + plain.outputs + i).filter(
    (wire) => !determined.givenPublic.includes(wire),
  );

/** The wires that are in a constraint. */
function constrained({ plain }: Proof, wires: readonly number[]): number[] {
  const used = new Set(plain.terms);
  return wires.filter((wire) => used.has(wire));
}

const isUsed = (file: string, main: Name): boolean => isAffected(sources, `${main}.circom`, file);
