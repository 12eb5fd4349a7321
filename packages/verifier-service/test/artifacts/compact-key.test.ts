import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { findCompactKey } from "../../src/artifacts/compact-key.ts";

const BUILD = join(import.meta.dirname, "..", "..", "..", "..", "circuits", "build");
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("a compact key", () => {
  const folder = temporaryFolder("compact-key");
  const path = join(folder, "elgamal_range.zkey");
  const compactPath = join(folder, "elgamal_range.czkey");
  const built = (circuit: string, kind: string): string => join(BUILD, circuit, `${circuit}.${kind}`);
  const [key, compact] = ["zkey", "czkey"].map((kind) => readFileSync(built("elgamal_range", kind))) as [
    Buffer,
    Buffer,
  ];
  const file = { path, sha256: sha256(key) };
  const found = (bytes: Uint8Array) => {
    writeFileSync(compactPath, bytes);
    return findCompactKey(file);
  };

  it("is listed only if it is complete and of the locked key", async () => {
    expect(await findCompactKey(file), "no such file").to.equal(undefined);
    expect(await findCompactKey(undefined), "no key").to.equal(undefined);
    expect(await found(compact)).to.deep.equal({ path: compactPath, sha256: sha256(compact), size: compact.length });
    expect(await found(compact.subarray(0, -1)), "cut off").to.equal(undefined);
    expect(await found(Buffer.concat([compact, Buffer.of(0)])), "longer").to.equal(undefined);
    expect(await found(Buffer.alloc(0)), "empty").to.equal(undefined);
    expect(await found(key), "not compact").to.equal(undefined);
    copyFileSync(built("origin", "czkey"), compactPath);
    expect(await findCompactKey(file), "another key's").to.equal(undefined);
  });
});
