import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { artifactPaths, root } from "../../src/circuits/paths.ts";
import { ceremonyFile, readCeremonies } from "../../src/sets/sets.ts";
import { writeTranscript } from "../../src/sets/transcript.ts";
import type { Transcript } from "../../src/sets/transcript-schema.ts";
import { renderVerifier, verifierPath } from "../../src/verifiers/export.ts";
import { stopSnarkjs } from "../../src/verifiers/stop-snarkjs.ts";

const hash = (digit: string): string => digit.repeat(64);
const transcript = (name: string): Transcript => ({
  version: 1,
  set: `ceremony/${name}`,
  phase1: { power: 16, file: "f.ptau", blake2b: "00".repeat(64) },
  circuits: { payment: { r1cs: "11".repeat(32), zkey: hash("3"), circuitHash: "22".repeat(64) } },
  rounds: [],
  final: { payment: { r1cs: hash("a"), wasm: hash("b"), zkey: hash("c"), vkey: hash("d"), verifier: hash("e") } },
});

describe("artifact sets", function () {
  slow(this, "keys, circuits and ceremonies are made");
  after(stopSnarkjs);

  it("are listed by name from the transcripts in the tree", async () => {
    const folder = join(mkdtempSync(join(tmpdir(), "sotto-sets-")), "ceremonies");
    expect(readCeremonies(join(folder, "none"))).to.deep.equal([]);
    const practice: Transcript = { ...transcript("practice"), set: "rehearsal/practice" };
    writeTranscript(join(folder, "rehearsal", "practice.json"), practice);
    for (const name of ["winter", "autumn"]) writeTranscript(join(folder, `${name}.json`), transcript(name));
    expect(readCeremonies(folder)).to.deep.equal([transcript("autumn"), practice, transcript("winter")]);
    const bad = [{ circuits: {} }, { set: "ceremony/autumn" }, { set: "rehearsal/bad" }, { set: "development" }];
    for (const change of bad) {
      writeTranscript(join(folder, "bad.json"), { ...transcript("bad"), ...change });
      await expectRejected("TRANSCRIPT_DAMAGED", () => readCeremonies(folder));
    }
    rmSync(join(folder, ".."), { recursive: true });
  });

  it("have their own verifiers, which name the set and the origin of its keys", async () => {
    expect(ceremonyFile("ceremony/autumn-2026")).to.equal("ceremonies/autumn-2026.json");
    const path = verifierPath("payment", "ceremony/autumn-2026");
    expect(path).to.equal(join(root, "contracts/verifiers/ceremony/autumn-2026/Autumn2026PaymentVerifier.sol"));
    expect(verifierPath("elgamal_range", "ceremony/autumn-2026")).to.equal(undefined);
    const source = await renderVerifier("payment", "ceremony/autumn-2026", artifactPaths("payment").zkey);
    expect(source).to.include("Key set: ceremony/autumn-2026.").and.include("circuits/ceremonies/autumn-2026.json");
    expect(source).to.include('from "../../../interfaces/IVerifier.sol"');
    expect(source).to.include("contract Autumn2026PaymentVerifier is IPaymentVerifier, Bn254Guard {");
    expect(await renderVerifier("elgamal_range", "ceremony/autumn-2026", artifactPaths("elgamal_range").zkey)).to.equal(
      undefined,
    );
    const development = await renderVerifier("payment", "development", artifactPaths("payment").zkey);
    expect(development).to.include("is IPaymentVerifier, Bn254Guard, DevelopmentKeysGuard {");
    // The secrets of a rehearsal's keys are public too.
    const rehearsal = await renderVerifier("payment", "rehearsal/practice", artifactPaths("payment").zkey);
    expect(rehearsal).to.include(
      "contract RehearsalPracticePaymentVerifier is IPaymentVerifier, Bn254Guard, RehearsalKeysGuard {",
    );
  });
});
