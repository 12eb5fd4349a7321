import { expect } from "chai";
import { clientIds, networkHashes, networkLimits } from "../../src/ops/client-id.ts";
import { Closing } from "../../src/ops/closing.ts";

describe("client ids", () => {
  it("hide networks behind a keyed hash", () => {
    const [one, same, other] = [clientIds("a"), clientIds("a"), clientIds("b")];
    expect(one("192.0.2.7"))
      .to.match(/^[0-9a-f]{32}$/)
      .and.equal(same("192.0.2.7"));
    expect(one("192.0.2.7")).to.not.equal(one("192.0.2.8"));
    expect(one("192.0.2.7")).to.not.equal(other("192.0.2.7"));
    expect(one("2001:db8::1")).to.equal(one("2001:db8::2"));
    const [link, house, site] = one("2001:db8:1:ab01::1").split(",");
    expect(one("2001:db8:1:abff::1").split(",").slice(1)).to.deep.equal([house, site]);
    expect(one("2001:db8:1:ff::1").split(",")[2]).to.equal(site);
    expect(new Set([link, house, site]).size).to.equal(3);
  });

  it("cannot be compared with hashes for another purpose", () => {
    const [ids, rates] = ["ids", "rates"].map((purpose) => networkHashes("a", purpose));
    expect(ids!("192.0.2.7"))
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(rates!("192.0.2.7"));
  });

  it("allow a larger network more requests, but fewer than all its addresses together", () => {
    expect(networkLimits("a,b,c", 10)).to.deep.equal([
      { network: "a", limit: 10 },
      { network: "b", limit: 20 },
      { network: "c", limit: 40 },
    ]);
    expect(networkLimits("a", 10)).to.deep.equal([{ network: "a", limit: 10 }]);
  });
});

describe("closing", () => {
  it("ends everything once, in reverse order, despite failures", async () => {
    const [order, errors]: [number[], unknown[]] = [[], []];
    const closing = new Closing((error) => errors.push(error));
    closing.add(() => order.push(1));
    closing.add(async () => {
      order.push(2);
      throw new Error("two");
    });
    closing.add(() => order.push(3));
    expect(closing.begun).to.equal(false);
    await Promise.all([closing.run(), closing.run()]);
    expect(closing.begun).to.equal(true);
    expect(order).to.deep.equal([3, 2, 1]);
    expect(errors).to.have.length(1);
  });
});
