import { appendFileSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { circuitNames } from "../../src/circuits/paths.ts";
import { type ArtifactHashes, assertLocked, lockedFiles, readLock } from "../../src/setup/lock.ts";
import { assertVerifier, exportVerifier, VERIFIER_TEMPLATE, verifierPath } from "../../src/verifiers/export.ts";
import { stopSnarkjs } from "../../src/verifiers/stop-snarkjs.ts";

describe("artifacts lock", function () {
  slow(this, "keys, circuits and ceremonies are made");
  it("pins exactly the built files of every circuit", () => {
    assertLocked();
    expect(Object.keys(readLock().circuits)).to.deep.equal([...circuitNames]);
  });

  it("states that its keys are for development", () => {
    expect(readLock().set).to.equal("development");
  });

  for (const [index, [kind, path]] of lockedFiles("payment").entries())
    it(`rejects a changed ${kind}, naming it`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "sotto-lock-"));
      try {
        const files = lockedFiles("payment").map(([key, original]): [keyof ArtifactHashes, string] => {
          copyFileSync(original, join(folder, basename(original)));
          return [key, join(folder, basename(original))];
        });
        assertLocked(["payment"], readLock(), () => files);
        const changed = files[index]![1];
        appendFileSync(changed, " ");
        const { message } = await expectRejected("ARTIFACT_CHANGED", () =>
          assertLocked(["payment"], readLock(), () => files),
        );
        expect(message).to.include(basename(path));
        for (const [, other] of files) if (other !== changed) expect(message).to.not.include(`${basename(other)}:`);
        rmSync(changed);
        const { message: missing } = await expectRejected("ARTIFACT_CHANGED", () =>
          assertLocked(["payment"], readLock(), () => files),
        );
        expect(missing).to.include(`${basename(path)}: no file`);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

  it("rejects a circuit that the lock does not pin", async () => {
    const lock = { ...readLock(), circuits: {} };
    expect((await expectRejected("ARTIFACT_CHANGED", () => assertLocked(["payment"], lock))).message).to.include(
      "payment.r1cs",
    );
  });

  it("reports the next step if the lock is missing or unreadable", async () => {
    expect((await expectRejected("LOCK_MISSING", () => readLock(join(tmpdir(), "no.lock.json")))).message).to.include(
      "setup:dev",
    );
    await expectRejected("LOCK_DAMAGED", () =>
      readLock(join(import.meta.dirname, "..", "..", "..", "..", "biome.json")),
    );
  });
});

describe("exported verifiers", function () {
  slow(this, "keys, circuits and ceremonies are made");
  after(stopSnarkjs);
  for (const name of circuitNames.filter((circuit) => verifierPath(circuit) !== undefined))
    it(`${name}: equals the export of the tree's key, byte for byte`, () => assertVerifier(name, readLock().set));

  it("are named in the error if they were edited", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-verifier-"));
    const copy = join(folder, "PaymentVerifier.sol");
    copyFileSync(verifierPath("payment")!, copy);
    await assertVerifier("payment", "development", copy);
    appendFileSync(copy, "// a word more\n");
    const { message: edited } = await expectRejected("VERIFIER_STALE", () =>
      assertVerifier("payment", "development", copy),
    );
    expect(edited).to.include("PaymentVerifier.sol");
    const missing = join(folder, "none", "PaymentVerifier.sol");
    await expectRejected("VERIFIER_STALE", () => assertVerifier("payment", "development", missing));
    rmSync(folder, { recursive: true });
  });

  it("are exported again if the template or the file changes, although the key does not", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-verifier-"));
    const [path, stamp, template] = ["PaymentVerifier.sol", ".exported", "verifier.sol.ejs"].map((file) =>
      join(folder, file),
    ) as [string, string, string];
    copyFileSync(VERIFIER_TEMPLATE, template);
    const run = () => exportVerifier("payment", "development", path, { stamp, template });
    expect(await run()).to.equal(true);
    const exported = readFileSync(path, "utf8");
    expect(exported).to.equal(readFileSync(verifierPath("payment")!, "utf8"));
    expect(await run(), "nothing changed").to.equal(false);
    appendFileSync(path, "// a word more\n");
    expect(await run(), "the file changed").to.equal(true);
    expect(readFileSync(path, "utf8")).to.equal(exported);
    appendFileSync(template, "// the template's last line\n");
    expect(await run(), "the template changed").to.equal(true);
    expect(readFileSync(path, "utf8")).to.include("// the template's last line");
    rmSync(folder, { recursive: true });
  });

  it("exclude the amount proof, which no contract checks", () => {
    expect(verifierPath("elgamal_range")).to.equal(undefined);
    expect(existsSync("contracts/verifiers/ElgamalRangeVerifier.sol")).to.equal(false);
  });
});
