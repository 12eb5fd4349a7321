// Calls that are repeated.
import { expect } from "chai";
import { Once } from "../src/agent/once.ts";

const make = () =>
  new Once<string>(
    ({ length }) => length,
    (result) => result !== "failed",
  );

describe("a repeated call", () => {
  it("gets the result of the first one, during and after it", async () => {
    const once = make();
    let calls = 0;
    const call = async () => `result ${++calls}`;
    const results = await Promise.all([once.run("k", "a", call), once.run("k", "a", call)]);
    expect([...results, await once.run("k", "a", call)]).to.deep.equal(["result 1", "result 1", "result 1"]);
  });

  it("runs again if the first one failed", async () => {
    const once = make();
    await once.run("k", "a", async () => "failed");
    expect(await once.run("k", "a", async () => "second")).to.equal("second");
    await once.run("x", "a", async () => Promise.reject(new Error("thrown"))).catch(() => undefined);
    expect(await once.run("x", "a", async () => "second")).to.equal("second");
  });

  it("is refused with other arguments", async () => {
    const once = make();
    await once.run("k", "a", async () => "first");
    expect(() => once.run("k", "b", async () => "other"))
      .to.throw()
      .with.property("code", "CALL_MISMATCH");
  });

  it("is forgotten after too many later calls", async () => {
    const once = make();
    const calls = Array.from({ length: 300 }, (_, i) => once.run(`k${i}`, "a", async () => `${i}`));
    await Promise.all(calls);
    expect(await once.run("k299", "a", async () => "again")).to.equal("299");
    expect(await once.run("k0", "a", async () => "again")).to.equal("again");
  });
});
