import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { publicSignalCount, readCircuitTable } from "@sotto/keys/circuits/circuits-json";
import { generateCircuits } from "@sotto/keys/generate/circuits";
import { generateConstants } from "@sotto/keys/generate/constants";
import { type GeneratedFile, type Generator, generate } from "@sotto/keys/generate/generated-file";
import { readLock } from "@sotto/keys/setup/lock";
import { generateLock } from "@sotto/keys/setup/lock-source";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { generateAbi } from "../abi.ts";

const GENERATORS = [generateCircuits, generateConstants, generateAbi, generateLock];

/** The exports of a generated TypeScript module, loaded from a temporary folder, because scripts must not import a package's sources. */
async function load(generator: Generator, folder: string): Promise<Record<string, unknown>> {
  const { path, content } = (await generator()) as GeneratedFile;
  const copy = join(folder, basename(path));
  writeFileSync(copy, content);
  return import(copy);
}

interface GeneratedCircuit {
  constraints: number;
  signalCount: number;
  publicSignalCount: number;
  publicSignals: { name: string; offset: number; size: number }[];
}

describe("generated sources", function () {
  slow(this, "processes start and end");
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("generate");
  });

  it("match their sources, reproducibly", async () => {
    await generate(GENERATORS, true);
    for (const generator of GENERATORS) expect(await generator()).to.deep.equal(await generator());
  });

  it("reports a stale file by name, and writes it once", async () => {
    const copies = GENERATORS.map((generator) => async () => {
      const { path, content } = (await generator()) as GeneratedFile;
      return { path: join(folder, basename(path)), content };
    });
    await generate(copies, false);
    const path = join(folder, "CircuitConstants.sol");
    writeFileSync(path, `${readFileSync(path, "utf8")} `);
    const { message } = await expectRejected("GENERATED_STALE", () => generate(copies, true));
    expect(message).to.include("CircuitConstants.sol").and.to.not.include("circuits.ts");
    await generate(copies, false);
    const written = statSync(path).mtimeMs;
    await generate(copies, true);
    await generate(copies, false);
    expect(statSync(path).mtimeMs, "an unchanged file is not touched").to.equal(written);
    rmSync(path);
    await expectRejected("GENERATED_STALE", () => generate(copies, true));
    expect(existsSync(path)).to.equal(false);
  });

  it("contain every signal of circuits.json at its position", async () => {
    const { CIRCUITS, SIGNAL_POSITIONS, TREE_CAPACITY, TREE_DEPTH } = await load(generateCircuits, folder);
    // The protocol's signals, not the three that are computed from them.
    expect((SIGNAL_POSITIONS as Record<string, unknown>)["withdrawal"]).to.deep.equal({
      context: 0,
      amount: 1,
      root: 2,
      nullifiers: 3,
      commitment: 11,
      changeHint: 12,
    });
    for (const [name, circuit] of Object.entries(readCircuitTable())) {
      const generated = (CIRCUITS as Record<string, GeneratedCircuit>)[name]!;
      expect(generated.constraints).to.equal(circuit.constraints);
      expect(generated.publicSignalCount).to.equal(publicSignalCount(circuit));
      expect(generated.signalCount).to.equal(name === "withdrawal" ? 13 : publicSignalCount(circuit));
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
    expect(TREE_CAPACITY).to.equal(8 ** (TREE_DEPTH as number));
  });

  it("contain constants for contracts of each circuit but origin, which is verified off chain", async () => {
    const { content } = await generateConstants();
    const named = [...content.matchAll(/constant (\w+)_PUBLIC_SIGNALS/g)].map(([, name]) => name?.toLowerCase());
    const circuits = Object.keys(readCircuitTable());
    expect(circuits).to.include("origin");
    expect(named).to.deep.equal(circuits.filter((name) => name !== "origin"));
  });

  it("contain the hashes of artifacts.lock.json", async () => {
    const { ARTIFACTS_LOCK } = await load(generateLock, folder);
    expect(ARTIFACTS_LOCK).to.deep.equal(readLock());
  });

  it("contain the pool's ABI without Solidity's internal types", async () => {
    const { shieldedPoolAbi } = await load(generateAbi, folder);
    const names = (shieldedPoolAbi as { type: string; name?: string }[]).map(({ type, name }) => `${type} ${name}`);
    for (const expected of ["function settle", "function withdraw", "function append", "function deposit"])
      expect(names).to.include(expected);
    expect(names.some((name) => name.startsWith("event "))).to.equal(true);
    expect(names.some((name) => name.startsWith("error "))).to.equal(true);
    expect(JSON.stringify(shieldedPoolAbi)).to.not.include("internalType");
  });
});
