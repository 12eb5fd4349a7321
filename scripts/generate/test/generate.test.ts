import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { CIRCUITS, TREE_CAPACITY, TREE_DEPTH } from "../../../packages/protocol/src/generated/circuits.ts";
import { shieldedPoolAbi } from "../../../packages/protocol/src/generated/shielded-pool-abi.ts";
import { ARTIFACTS_LOCK } from "../../../packages/prover/src/generated/artifacts-lock.ts";
import { publicSignalCount, readCircuitTable } from "../../circuits/circuits-json.ts";
import { rejected } from "../../lib/test/rejected.ts";
import { readLock } from "../../setup/lock.ts";
import { generateAbi } from "../abi.ts";
import { generateCircuits } from "../circuits.ts";
import { generateConstants } from "../constants.ts";
import { generate } from "../generated-file.ts";
import { generateLock } from "../lock.ts";

const GENERATORS = [generateCircuits, generateConstants, generateAbi, generateLock];

describe("generated sources", () => {
  it("are what their sources say, and come out the same twice", async () => {
    await generate(GENERATORS, true);
    for (const generator of GENERATORS) expect(await generator()).to.deep.equal(await generator());
  });

  it("a stale one is refused and named, then written, once", async () => {
    const directory = mkdtempSync(join(tmpdir(), "sotto-generate-"));
    try {
      const copies = GENERATORS.map((generator) => async () => {
        const { path, content } = await generator();
        return { path: join(directory, basename(path)), content };
      });
      await generate(copies, false);
      const path = join(directory, "CircuitConstants.sol");
      writeFileSync(path, `${readFileSync(path, "utf8")} `);
      const message = await rejected("GENERATED_STALE", () => generate(copies, true));
      expect(message).to.include("CircuitConstants.sol").and.to.not.include("circuits.ts");
      await generate(copies, false);
      const written = statSync(path).mtimeMs;
      await generate(copies, true);
      await generate(copies, false);
      expect(statSync(path).mtimeMs, "an unchanged file is not touched").to.equal(written);
      rmSync(path);
      await rejected("GENERATED_STALE", () => generate(copies, true));
      expect(existsSync(path)).to.equal(false);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("circuits: every signal of circuits.json, at the place its predecessors leave it", () => {
    for (const [name, circuit] of Object.entries(readCircuitTable())) {
      const generated = CIRCUITS[name as keyof typeof CIRCUITS];
      expect(generated.constraints).to.equal(circuit.constraints);
      expect(generated.publicSignalCount).to.equal(publicSignalCount(circuit));
      expect(generated.publicSignals.map((signal) => signal.name)).to.deep.equal(
        circuit.publicSignals.map((signal) => signal.name),
      );
      let next = 0;
      for (const { offset, size } of generated.publicSignals) {
        expect(offset).to.equal(next);
        next += size;
      }
      expect(next).to.equal(generated.publicSignalCount);
    }
    expect(TREE_CAPACITY).to.equal(8 ** TREE_DEPTH);
  });

  it("lock: the hashes of artifacts.lock.json", () => {
    expect(ARTIFACTS_LOCK).to.deep.equal(readLock());
  });

  it("ABI: the pool's functions, events and errors, without Solidity's internal types", () => {
    const names = shieldedPoolAbi.flatMap((entry) => ("name" in entry ? [`${entry.type} ${entry.name}`] : []));
    for (const expected of ["function settle", "function withdraw", "function append", "function deposit"])
      expect(names).to.include(expected);
    expect(names.some((name) => name.startsWith("event "))).to.equal(true);
    expect(names.some((name) => name.startsWith("error "))).to.equal(true);
    expect(JSON.stringify(shieldedPoolAbi)).to.not.include("internalType");
  });
});
