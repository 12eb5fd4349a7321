import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateRawSync } from "node:zlib";
import { assert } from "chai";
import { curveCode, scalarCode } from "../src/fast/kernels.ts";

const file = join(import.meta.dirname, "..", "dist", "fast", "kernels.js");

describe("the built package", () => {
  it("has the kernels that the source assembles", async () => {
    const built = (await import(pathToFileURL(file).href)) as typeof import("../src/fast/kernels.ts");
    assert.deepEqual(await built.curveCode(), await curveCode());
    assert.deepEqual(await built.scalarCode(), await scalarCode());
  });

  it("decompresses them in Node and in a browser alike", async () => {
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

  it("assembles no kernel when it starts", () => {
    assert.deepEqual(
      [...readFileSync(file, "utf8").matchAll(/from "(.*)"/g)].map(([, name]) => name),
      ["./inflate.js"],
    );
  });
});
