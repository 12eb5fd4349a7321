// The limits in a wallet's config file.
import { expect } from "chai";
import { parseConfig } from "../src/home/config.ts";
import { DEAD_CONFIG } from "./support/run.ts";

describe("limits in a config", () => {
  const read = (limits: unknown) => parseConfig({ ...DEAD_CONFIG, limits }, "config.json").limits;

  it("are parsed as written", () => {
    expect(read({ perDay: "2000000", approveAbove: "0" })).to.deep.equal({ perDay: 2_000_000n, approveAbove: 0n });
  });

  it("reject a misspelled name, which would have no effect", () => {
    expect(() => read({ perday: "2000000" }))
      .to.throw("limits.perday")
      .with.property("code", "CONFIG_INVALID");
  });
});
