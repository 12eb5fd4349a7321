import { once } from "node:events";
import { createServer } from "node:net";
import { expect } from "chai";
import { freePort } from "../../src/http/listen.ts";

const HOST = "127.0.0.1";

describe("a free port", () => {
  // Otherwise a connection of another process could take the port before the server listens.
  it("is outside the ranges that systems assign automatically", async () => {
    for (let count = 0; count < 100; count += 1)
      expect(await freePort(HOST))
        .to.be.at.least(1024)
        .and.below(32_768);
  });

  it("is not one on which another server listens", async () => {
    const port = await freePort(HOST);
    const other = createServer().listen(port, HOST);
    await once(other, "listening");
    const { random } = Math;
    // The first draw means this port, the later ones are random.
    const draws = [(port - 10_000 + 0.5) / 20_000];
    try {
      Math.random = () => draws.shift() ?? random();
      expect(await freePort(HOST)).to.not.equal(port);
      expect(draws).to.deep.equal([]);
    } finally {
      Math.random = random;
      await once(other.close(), "close");
    }
  });

  it("is refused at an address that this machine does not have", async () => {
    const error = await freePort("192.0.2.1").catch((thrown: unknown) => thrown);
    expect(error).to.have.property("code", "PORT_UNAVAILABLE");
  });
});
