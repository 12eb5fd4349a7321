import { expect } from "chai";
import { unpublishable } from "../check.ts";

describe("packages for npm", () => {
  const manifest = { name: "@sotto/one", version: "1.0.0" };
  const repository = { url: "git+https://git.example/sotto.git", directory: "packages/one" };

  it("can be published if each names its repository", () => {
    expect(unpublishable([{ ...manifest, repository }])).to.equal(undefined);
    expect(unpublishable([{ ...manifest, repository }, manifest])).to.include("no repository");
  });
});
