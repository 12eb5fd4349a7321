import { expect } from "chai";
import { clientIds, networkOf } from "../../src/ops/client-id.ts";
import { Closing } from "../../src/ops/closing.ts";

describe("client ids", () => {
  const cases: [string, string][] = [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::ffff:c000:0207", "192.0.2.7"],
    ["0:0:0:0:0:ffff:c000:207", "192.0.2.7"],
    // As some proxies write who they stand for: a port for each connection.
    ["192.0.2.7:40123", "192.0.2.7"],
    ["[2001:db8:1:2::3]:40123", "2001:db8:1:2"],
    ["[2001:db8:1:2::3]", "2001:db8:1:2"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0db8:0001:0002::6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
  ];
  for (const [address, network] of cases)
    it(`${address} is of ${network}`, () => {
      expect(networkOf(address)).to.equal(network);
    });

  it("name a network without showing it, alike for who has the same secret", () => {
    const [one, same, other] = [clientIds("a"), clientIds("a"), clientIds("b")];
    expect(one("192.0.2.7"))
      .to.match(/^[0-9a-f]{32}$/)
      .and.equal(same("192.0.2.7"));
    expect(one("192.0.2.7")).to.not.equal(one("192.0.2.8"));
    expect(one("192.0.2.7")).to.not.equal(other("192.0.2.7"));
    expect(one("2001:db8::1")).to.equal(one("2001:db8::2"));
  });
});

describe("closing", () => {
  it("ends everything once, last one first, whatever fails", async () => {
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
