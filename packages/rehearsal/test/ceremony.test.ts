import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256File } from "@sotto/keys/circuits/files";
import { artifactPaths, circuitNames } from "@sotto/keys/circuits/paths";
import type { Transcript } from "@sotto/keys/sets/transcript-schema";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { circuitsDiffer } from "../src/ceremony.ts";

const ROUND = { contributor: "Ada Lovelace", hashes: {} };

describe("the ceremony of an earlier rehearsal", () => {
  const copy = temporaryFolder("ceremony");
  const circuits: Transcript["circuits"] = {};
  for (const name of circuitNames) {
    const { folder, r1cs } = artifactPaths(name, join(copy, "circuits", "build", name));
    mkdirSync(folder, { recursive: true });
    writeFileSync(r1cs, name);
    circuits[name] = { r1cs: sha256File(r1cs), zkey: "0".repeat(64), circuitHash: "1".repeat(128) };
  }
  const { origin: _, ...older } = circuits;

  it("is kept if the circuits are the same", () => {
    expect(circuitsDiffer({ circuits, rounds: [ROUND] }, copy)).to.equal(false);
  });

  it("is held again if a circuit has changed", () => {
    const payment = { ...circuits["payment"]!, r1cs: "2".repeat(64) };
    for (const rounds of [[], [ROUND]])
      expect(circuitsDiffer({ circuits: { ...circuits, payment }, rounds }, copy)).to.equal(true);
  });

  it("is held again if a circuit was added after the first contribution, and completed if it was added before", () => {
    expect(circuitsDiffer({ circuits: older, rounds: [ROUND] }, copy)).to.equal(true);
    expect(circuitsDiffer({ circuits: older, rounds: [] }, copy)).to.equal(false);
  });
});
