import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { acceptsBrotli, findCompressed } from "../../src/artifacts/compressed.ts";

describe("a compressed file", () => {
  const folder = temporaryFolder("compressed");

  it("is used only if it decompresses to the locked file", async () => {
    const [path, file] = [join(folder, "a"), Buffer.from("the file")];
    const sha256 = createHash("sha256").update(file).digest("hex");
    const found = async (compressed: Uint8Array) => {
      writeFileSync(`${path}.br`, compressed);
      return findCompressed(path, sha256, file.length);
    };
    expect(await findCompressed(path, sha256, file.length), "no such file").to.equal(undefined);
    const right = brotliCompressSync(file);
    expect(await found(right)).to.deep.equal({ path: `${path}.br`, size: right.length });
    expect(await found(brotliCompressSync("the fils")), "another file").to.equal(undefined);
    expect(await found(brotliCompressSync(Buffer.alloc(1 << 20))), "far more than the file").to.equal(undefined);
    expect(await found(right.subarray(0, -1)), "cut off").to.equal(undefined);
  });

  const accepted = ["br", "BR;q=0.1", "gzip;q=1.0, br;q=0.5", "gzip, br"];
  const refused = [undefined, "", "gzip", "br;q=0", "identity, br; q=0.000", "brx", "*"];
  for (const [headers, expected] of [
    [accepted, true],
    [refused, false],
  ] as const)
    for (const header of headers)
      it(`is ${expected ? "" : "not "}accepted with ${JSON.stringify(header)}`, () => {
        expect(acceptsBrotli(header)).to.equal(expected);
      });
});
