import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { buildFolder, circuitNames } from "../../src/circuits/paths.ts";
import { ensureKeys } from "../../src/setup/development-keys.ts";
import { lockedFiles, readLock } from "../../src/setup/lock.ts";

describe("the manifest of development keys", function () {
  slow(this, "keys, circuits and ceremonies are made");
  const manifest = JSON.parse(readFileSync(join(buildFolder, "manifest.json"), "utf8"));

  it("states that its keys are for development and protect nothing", () => {
    expect(manifest.set).to.equal("development");
    expect(manifest.warning).to.match(/anyone can forge proofs/);
    expect(manifest.seed).to.be.a("string");
  });

  for (const name of circuitNames)
    it(`lists the files of ${name} with the hashes of the lock, and no secret`, () => {
      const expected = lockedFiles(name).filter(([kind]) => kind !== "verifier");
      const hashes = expected.map(([kind, path]) => [basename(path), readLock().circuits[name]?.[kind]]);
      expect(manifest.circuits[name]).to.deep.equal(Object.fromEntries(hashes));
      expect(Object.keys(manifest.circuits[name]).join()).to.not.include("trapdoor");
    });

  it("is not rewritten if the keys exist", async () => {
    const start = () => expect.fail("threads were started although the key exists");
    for (const name of circuitNames) expect(await ensureKeys(name, start)).to.equal(false);
  });

  it("requires a compiled circuit, and says how to compile it", async () => {
    const start = () => expect.fail("threads were started without a compiled circuit");
    const { message } = await expectRejected("R1CS_MISSING", () => ensureKeys("no_such_circuit", start));
    expect(message).to.include("npm run build");
  });
});
