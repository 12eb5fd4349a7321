import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";

describe("a client whose Uint8Array is not the platform's, as under jsdom", function () {
  slow(this, "a process starts");

  it("sends bodies", () => {
    const script = join(import.meta.dirname, "support", "realm-process.ts");
    const printed = execFileSync(process.execPath, [script], { encoding: "utf8" });
    expect(JSON.parse(printed)).to.deep.equal({ foreign: true, sent: ["text", "text", "text"] });
  });
});
