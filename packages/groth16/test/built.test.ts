import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT_JSON, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { curveCode, probeCode, scalarCode, witnessReaderCode } from "../src/fast/kernels.ts";
import * as source from "../src/index.ts";
import { pairingCode } from "../src/pairing/code.ts";
import { toyFilesCode } from "./support/toy-files.ts";

const dist = join(import.meta.dirname, "..", "dist");
const bundleOf = (name: string): string => readFileSync(join(dist, name), "utf8");

describe("the built package", function () {
  slow(this, "a circuit is compiled, and proofs made");

  it("has the kernels that the source assembles, once for both threads, and nothing that assembles them", async () => {
    const codes = [await curveCode(), await scalarCode()];
    const kernelsOf = (bundle: string): string[] =>
      [...bundle.matchAll(/inflate\("([^"]+)"\)/g)].map(([, text = ""]) =>
        inflateRawSync(Buffer.from(text, "base64")).toString("hex"),
      );
    const expected = codes.flatMap(({ bytes, constants }) => [bytes, constants]);
    assert.deepEqual(
      kernelsOf(bundleOf("index.js")),
      expected.map((bytes) => Buffer.from(bytes).toString("hex")),
    );
    assert.deepEqual(kernelsOf(bundleOf("fast-worker.js")), []);
    for (const name of ["index.js", "fast-worker.js"]) assert.notMatch(bundleOf(name), /ModuleBuilder|FieldEmitter/);
    const { bytes, constants } = pairingCode();
    for (const code of [bytes, constants])
      assert.include(bundleOf("index.js"), `fromBase64("${Buffer.from(code).toString("base64")}")`);
    for (const code of [probeCode(), witnessReaderCode()])
      assert.include(bundleOf("index.js").replaceAll(/\s+/g, " "), [...code].join(", "));
  });

  it("exports what the source does", async () => {
    const built = (await import(pathToFileURL(join(dist, "index.js")).href)) as object;
    assert.deepEqual(Object.keys(built).sort(), Object.keys(source).sort());
  });

  it("proves with its second thread", async () => {
    const build = await buildToy(import.meta.dirname);
    const script = `
      import { createCircuitProver, parseVerificationKey } from ${JSON.stringify(pathToFileURL(join(dist, "index.js")).href)};
      const events = [];
      process.on("worker", (worker) => {
        worker.on("error", (error) => events.push(String(error)));
        worker.on("message", (reply) => events.push(Object.keys(reply).sort().join()));
      });${toyFilesCode(build)}
      const { publicSignals } = await createCircuitProver(files).prove(${TOY_INPUT_JSON});
      console.log(JSON.stringify({ events, publicSignals }));
      process.exit();`;
    const args = ["--input-type=module", "--no-warnings", "-e", script];
    const output = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
    // The key is ready, and the sums.
    assert.deepEqual(JSON.parse(output), { events: ["id", "id,partialSums"], publicSignals: TOY_SIGNALS });
  });

  it("decompresses kernels in Node and in a browser alike", async () => {
    const { getBuiltinModule } = process;
    const { inflate } = await import("../src/fast/inflate.ts");
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * index) >> 5);
    const text = deflateRawSync(bytes).toString("base64");
    assert.deepEqual(await inflate(text), bytes);
    try {
      Object.assign(process, { getBuiltinModule: undefined });
      assert.deepEqual(await inflate(text), bytes);
    } finally {
      Object.assign(process, { getBuiltinModule });
    }
  });
});
