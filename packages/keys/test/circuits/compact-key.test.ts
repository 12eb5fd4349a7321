import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { makeCompactKey } from "../../src/circuits/compact-key.ts";
import { artifactPaths } from "../../src/circuits/paths.ts";

describe("the compact key of a circuit", function () {
  slow(this, "keys are made compact");

  it("is made again only if it is missing, incomplete or of another key", async () => {
    const built = artifactPaths("elgamal_range");
    const paths = artifactPaths("elgamal_range", temporaryFolder("compact-key"));
    copyFileSync(built.zkey, paths.zkey);
    await makeCompactKey(paths);
    const compact = readFileSync(paths.compactKey);
    expect(compact.length).to.be.below(readFileSync(paths.zkey).length);
    const { ino } = statSync(paths.compactKey);
    await makeCompactKey(paths);
    expect(statSync(paths.compactKey).ino, "written again").to.equal(ino);
    const otherHash = Buffer.from(compact);
    otherHash[8] = (otherHash[8] as number) ^ 1;
    for (const other of [compact.subarray(0, -1), compact.subarray(0, 10), otherHash]) {
      writeFileSync(paths.compactKey, other);
      await makeCompactKey(paths);
      expect(readFileSync(paths.compactKey).equals(compact)).to.equal(true);
    }
  });
});
