import { isIPv6 } from "node:net";
import { expect } from "chai";
import { networkOf, networksOf } from "../src/networks.ts";

describe("the networks of a client's address", () => {
  const cases: [string, string][] = [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::ffff:c000:0207", "192.0.2.7"],
    ["0:0:0:0:0:ffff:c000:207", "192.0.2.7"],
    // Some proxies add the port of the connection to the client's address.
    ["192.0.2.7:40123", "192.0.2.7"],
    ["[2001:db8:1:2::3]:40123", "2001:db8:1:2/64"],
    ["[2001:db8:1:2::3]", "2001:db8:1:2/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2/64"],
    ["2001:0db8:0001:0002::6", "2001:db8:1:2/64"],
    ["2001:db8::1", "2001:db8:0:0/64"],
    ["::1", "0:0:0:0/64"],
    ["fe80::1%eth0", "fe80:0:0:0/64"],
    // Frameworks pass on what a proxy says.
    ["::1]/x[", "::1]/x["],
    ["1:2:3", "1:2:3"],
    ["unknown", "unknown"],
    ["", ""],
  ];
  for (const [address, network] of cases)
    it(`begin with ${network} for ${address}`, () => {
      expect(networkOf(address)).to.equal(network);
    });

  it("are the /64, /56 and /48 of IPv6, and an IPv4 address itself", () => {
    expect(networksOf("2001:db8:1:abcd::1")).to.deep.equal([
      "2001:db8:1:abcd/64",
      "2001:db8:1:ab00/56",
      "2001:db8:1/48",
    ]);
    expect(networksOf("::ffff:192.0.2.7")).to.deep.equal(["192.0.2.7"]);
  });

  it("exist for the texts that Node takes for IPv6 addresses, and for no others", () => {
    const parts = ["::", ":", "0", "1", "ab", "ffff", "fffff", "g", "1.2.3.4", "01.2.3.4", "256.1.1.1", "1.2.3", "."];
    const found = { addresses: 0, others: 0 };
    // A linear congruential generator picks the parts, for half of the texts from those of addresses.
    for (let i = 0, state = 1; i < 20_000; i += 1) {
      let text = "";
      for (let part = 0; part < 1 + (i % 15); part += 1) {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        text += parts[Math.floor(state / 2 ** 16) % (i % 2 === 0 ? 6 : parts.length)];
      }
      const isAddress = isIPv6(text);
      found[isAddress ? "addresses" : "others"] += 1;
      const isMapped = isAddress && /^\[::ffff:\w+:\w+\]$/.test(new URL(`http://[${text}]`).hostname);
      expect(networksOf(text), text).to.have.lengthOf(isAddress && !isMapped ? 3 : 1);
    }
    expect(found.addresses).to.be.greaterThan(100);
  });
});
