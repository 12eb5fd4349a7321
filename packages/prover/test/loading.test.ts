import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT_JSON, TOY_SIGNALS, toyLock } from "@sotto/test-kit/toy";
import { assert } from "chai";
import * as source from "../src/index.ts";

const dist = join(import.meta.dirname, "..", "dist");

describe("loading the package", function () {
  slow(this, "a circuit is compiled, and a proof made");

  it("exports what the source does", async () => {
    const built = (await import(pathToFileURL(join(dist, "index.js")).href)) as object;
    assert.deepEqual(Object.keys(built).sort(), Object.keys(source).sort());
  });

  it("proves without loading the protocol's curves and hashes", async () => {
    const build = await buildToy(import.meta.dirname);
    const script = `
      const { registerHooks } = await import("node:module");
      const loaded = [];
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
      const { createProver, loadArtifacts } = await import(${JSON.stringify(pathToFileURL(join(dist, "index.js")).href)});
      const artifacts = await loadArtifacts(${JSON.stringify({ folder: build, lock: toyLock(build) })});
      const { publicSignals } = await createProver(artifacts).prove("toy", ${TOY_INPUT_JSON});
      console.log(JSON.stringify({ loaded, publicSignals }));`;
    const args = ["--input-type=module", "--no-warnings", "-e", script];
    const output = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 300_000 });
    const { loaded, publicSignals } = JSON.parse(output) as { loaded: string[]; publicSignals: string[] };
    assert.deepEqual(publicSignals, TOY_SIGNALS);
    const of = (name: RegExp) => loaded.filter((url) => name.test(url)).length;
    assert.deepEqual([of(/protocol\/dist\/base\.js$/), of(/groth16\/dist\/index\.js$/)], [1, 1]);
    assert.equal(
      of(/protocol\/dist\/(index|keccak)\.js$|poseidon|babyjub|@noble\/curves\/(misc|secp256k1|ed25519)\.js$/),
      0,
    );
  });
});
