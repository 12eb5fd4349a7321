import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert } from "chai";
import { curveCode, scalarCode } from "../src/fast/kernels.ts";

const file = join(import.meta.dirname, "..", "dist", "fast", "kernels.js");

describe("the built package", () => {
  it("has the kernels that the source assembles", async () => {
    const built = (await import(pathToFileURL(file).href)) as typeof import("../src/fast/kernels.ts");
    assert.deepEqual(built.curveCode(), curveCode());
    assert.deepEqual(built.scalarCode(), scalarCode());
  });

  it("assembles no kernel when it starts", () => {
    assert.deepEqual(
      [...readFileSync(file, "utf8").matchAll(/from "(.*)"/g)].map(([, name]) => name),
      ["../base64.js"],
    );
  });
});
