import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { offenders } from "../licences.ts";
import { isCompatible } from "../spdx.ts";

describe("licences", function () {
  slow(this, "processes start and end");
  for (const expression of [
    "MIT",
    "(MIT OR Apache-2.0)",
    "MIT AND ISC",
    "SSPL-1.0 OR MIT",
    "(Apache-2.0 WITH LLVM-exception)",
    "(SSPL-1.0 OR (BSD-3-Clause AND MIT))",
  ])
    it(`accepts ${expression}`, () => expect(isCompatible(expression)).to.equal(true));

  for (const expression of [
    "",
    "Unknown",
    "SSPL-1.0",
    "MIT AND SSPL-1.0",
    "GPL-2.0-only",
    "MIT WITH some-exception",
    "(MIT",
    "MIT)",
    "MIT ISC",
    "OR MIT",
    "SEE LICENSE IN LICENSE.md",
  ])
    it(`rejects "${expression}"`, () => expect(isCompatible(expression)).to.equal(false));

  it("names the package, its versions and its licence", () => {
    const found = offenders({
      MIT: [{ name: "good", versions: ["1.0.0"] }],
      Proprietary: [{ name: "bad", versions: ["2.0.0"] }],
    });
    expect(found).to.deep.equal(["bad@2.0.0: Proprietary"]);
  });

  it("accepts a reviewed licence only for its package", () => {
    const packages = ["esprima", "other"].map((name) => ({ name, versions: ["1.0.0"] }));
    expect(offenders({ BSD: packages })).to.deep.equal(["other@1.0.0: BSD"]);
  });
});
