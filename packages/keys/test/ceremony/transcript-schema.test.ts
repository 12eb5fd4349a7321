// Transcripts by a malicious coordinator who attacks the people who check them.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { assertCircuitsMatch } from "../../src/ceremony/circuits.ts";
import { circuitNames } from "../../src/circuits/paths.ts";
import { readTranscript } from "../../src/sets/transcript.ts";
import { readLock } from "../../src/setup/lock.ts";

const [SHA, BLAKE] = ["0".repeat(64), "1".repeat(128)];
const hashes = { toy: { contribution: BLAKE, zkey: SHA } };
const ada = { contributor: "Ada Lovelace", hashes };
const drawn = { hash: "ab".repeat(32), iterations: 10, source: "drand, round 4711" };
const beacon = { contributor: "beacon", beacon: drawn, hashes };
const files = { r1cs: SHA, wasm: SHA, zkey: SHA, vkey: SHA };
const good = {
  version: 1,
  set: "ceremony/autumn-2026",
  phase1: { power: 16, file: "powers.ptau", blake2b: BLAKE },
  circuits: { toy: { r1cs: SHA, zkey: SHA, circuitHash: BLAKE } },
  rounds: [ada, beacon],
  final: { toy: { ...files, verifier: SHA } },
};
/** Code that the template of the verifiers would run. */
const code = '" + process.exit(0) + "';

describe("the schema of a transcript", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let folder: string;
  const read = (text: string) => {
    const path = join(folder, "transcript.json");
    writeFileSync(path, text);
    return readTranscript(path);
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-shape-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("matches what the tools write", () => {
    expect(read(JSON.stringify(good))).to.deep.equal(good);
    const { final: _, ...open } = { ...good, rounds: [] };
    expect(read(JSON.stringify(open))).to.deep.equal(open);
  });

  const changes: [what: string, change: object][] = [
    ["code in the name of the set", { set: `rehearsal/x${code}` }],
    ["a set outside its folder", { set: "ceremony/../../.." }],
    ["a set that is not a ceremony", { set: "development" }],
    ["another version", { version: 2 }],
    ["no circuits", { circuits: {} }],
    ["a circuit that is a path", { circuits: { "../toy": good.circuits.toy } }],
    ["a malformed hash", { circuits: { toy: { ...good.circuits.toy, r1cs: `${SHA}'` } } }],
    ["a phase 1 in another folder", { phase1: { ...good.phase1, file: "../powers.ptau" } }],
    ["a power above 28", { phase1: { ...good.phase1, power: 29 } }],
    ["rounds that are not a list", { rounds: { 0: ada } }],
    ["a round without a contributor", { rounds: [{ ...ada, contributor: "" }] }],
    ["a name with Markdown", { rounds: [{ ...ada, contributor: "Ada](https://x) | `x`" }] }],
    ["a name with a terminal escape", { rounds: [{ ...ada, contributor: "Ada\u001b[2J" }] }],
    ["a contributor's name that begins with beacon", { rounds: [{ ...ada, contributor: "beacon of Ada" }] }],
    ["a contribution with a beacon", { rounds: [{ ...ada, beacon: drawn }] }],
    ["a beacon round without its source", { rounds: [ada, { ...beacon, beacon: undefined }] }],
    ["a beacon round with a contributor's name", { rounds: [ada, { ...beacon, contributor: "Ada" }] }],
    ["a beacon with too few iterations", { rounds: [ada, { ...beacon, beacon: { ...drawn, iterations: 9 } }] }],
    ["a contribution after the beacon", { rounds: [beacon, ada] }],
    ["a round without hashes", { rounds: [{ ...ada, hashes: {} }] }],
    ["no keys", { final: { toy: { ...files, zkey: undefined } } }],
    ["an unknown field", { extra: 1 }],
  ];
  for (const [what, change] of changes)
    it(`rejects ${what}`, async () => {
      await expectRejected("TRANSCRIPT_DAMAGED", () => read(JSON.stringify({ ...good, ...change })));
    });

  it("reports the path of an invalid field, without control characters", async () => {
    for (const [change, words] of [
      [
        { rounds: [ada, { ...ada, hashes: { toy: { contribution: BLAKE } } }] },
        "/rounds/1/hashes/toy must have required",
      ],
      [{ phase1: { ...good.phase1, blake2b: SHA } }, "/phase1/blake2b must match pattern"],
      [{ rounds: [beacon, ada] }, "/rounds/0 must be a contribution, or the beacon as the last round"],
      [{ "\u001b[2J": 1 }, "/?[2J is not a field of a transcript"],
    ] as const)
      expect(
        (await expectRejected("TRANSCRIPT_DAMAGED", () => read(JSON.stringify({ ...good, ...change })))).message,
      ).to.include(words);
  });

  it("rejects prototypes and malformed JSON", async () => {
    const text = JSON.stringify(good).replace('"toy"', '"__proto__"');
    for (const bad of [text, "[]", "null", "{"]) await expectRejected("TRANSCRIPT_DAMAGED", () => read(bad));
  });

  it("requires the names of this tree's circuits and verifiers", async () => {
    const { circuits } = readLock();
    const final = Object.fromEntries(circuitNames.map((name) => [name, { ...files, ...circuits[name]! }]));
    const set = "development";
    assertCircuitsMatch({ set, final });
    for (const kind of ["r1cs", "wasm"] as const) {
      const weaker = { ...final, payment: { ...final["payment"]!, [kind]: SHA } };
      expect(
        (await expectRejected("CIRCUIT_DIFFERS", () => assertCircuitsMatch({ set, final: weaker }))).message,
      ).to.include(kind);
    }
    await expectRejected("CIRCUIT_DIFFERS", () => assertCircuitsMatch({ set, final: { ...final, other: files } }));
    const { origin: _, ...older } = final;
    const added = await expectRejected("CIRCUIT_DIFFERS", () => assertCircuitsMatch({ set, final: older }));
    expect(added.message).to.match(/^origin: added after the ceremony; check out the commit/);
    assertCircuitsMatch({ set });
    const edited = { ...final, payment: { ...final["payment"]!, verifier: SHA } };
    const { message } = await expectRejected("VERIFIER_STALE", () => assertCircuitsMatch({ set, final: edited }));
    expect(message).to.include("PaymentVerifier.sol");
    await expectRejected("VERIFIER_STALE", () => assertCircuitsMatch({ set: "ceremony/never-held", final }));
  });
});
