import type { LookupAddress, lookup } from "node:dns";
import { createServer, type RequestListener, type Server } from "node:http";
import { anyRejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { hostAsker, isPublicAddress, publicLookup } from "../../src/discovery/host.ts";

describe("asking a host", () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close().closeAllConnections();
  });
  async function serve(handle: RequestListener): Promise<string> {
    const server = createServer(handle);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  it("reads status and header, not the body, and sends no data", async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      const { method, headers } = request;
      seen.push([method, request.url, Object.keys(headers).sort()]);
      response.writeHead(402, { "payment-required": "abc" });
      // An endless body.
      const write = () => void (response.write("x".repeat(65_536)) && setImmediate(write));
      response.on("drain", write);
      write();
    });
    expect(await hostAsker(true)(`${url}/weather`, "POST")).to.deep.equal({ status: 402, required: "abc" });
    const [[method, path, headers]] = seen as [[string, string, string[]]];
    expect([method, path]).to.deep.equal(["POST", "/weather"]);
    expect(headers.filter((name) => name !== "content-length" && name !== "transfer-encoding")).to.deep.equal([
      ...["accept", "connection", "host", "user-agent"],
    ]);
  });

  it("follows no redirect", async () => {
    let followed = 0;
    const target = await serve((_request, response) => {
      followed += 1;
      response.end();
    });
    const url = await serve((_request, response) => void response.writeHead(302, { location: target }).end());
    expect(await hostAsker(true)(url, "GET")).to.deep.equal({ status: 302, required: undefined });
    expect(followed).to.equal(0);
  });

  it("rejects if the host does not answer, switches protocols, or sends headers that are too large", async () => {
    const broken = await serve((request) => void request.socket.destroy());
    await anyRejection(hostAsker(true)(broken, "GET"));
    const large = await serve(
      (_request, response) => void response.writeHead(402, { "payment-required": "a".repeat(40_000) }).end(),
    );
    await anyRejection(hostAsker(true)(large, "GET"));
    const switching = await serve(
      (_request, response) => void response.writeHead(101, { connection: "upgrade", upgrade: "websocket" }).end(),
    );
    await anyRejection(hostAsker(true)(switching, "GET"));
  });

  it("connects only to public addresses, unless the chain is local", async () => {
    let reached = 0;
    const url = await serve((_request, response) => {
      reached += 1;
      response.end();
    });
    const { port } = new URL(url);
    for (const private_ of [
      url,
      `https://localhost:${port}/`,
      "https://localhost/",
      "https://127.0.0.1/",
      "https://[::1]/",
    ])
      await anyRejection(hostAsker(false)(private_, "GET"));
    expect(reached).to.equal(0);
  });

  it("recognizes public addresses", () => {
    const no = [
      ...[
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.31.0.1",
        "192.168.0.1",
        "198.18.0.1",
      ],
      ...["224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "fe80::1", "fc00::1"],
      ...[
        "ff02::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b:1::808:808",
        "2001::1",
        "localhost",
        "",
      ],
    ];
    for (const address of no) expect(isPublicAddress(address), address).to.equal(false);
    for (const address of ["8.8.8.8", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "64:ff9b:0::8.8.8.8"])
      expect(isPublicAddress(address), address).to.equal(true);
  });

  it("resolves a name only if all of its addresses are public", async () => {
    const resolving = (...addresses: string[]) => {
      const found: LookupAddress[] = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      const resolve = (_name: string, _options: object, done: (error: null, found: LookupAddress[]) => void) =>
        done(null, found);
      return (all: boolean): Promise<unknown> =>
        new Promise((settle, reject) =>
          publicLookup(resolve as unknown as typeof lookup)("a.example", { all }, (error, address) =>
            error === null ? settle(address) : reject(error),
          ),
        );
    };
    expect(await resolving("8.8.8.8")(false)).to.equal("8.8.8.8");
    expect(await resolving("8.8.8.8", "2606:4700::1111")(true)).to.have.lengthOf(2);
    await anyRejection(resolving("8.8.8.8", "127.0.0.1")(true));
    await anyRejection(resolving("10.0.0.1")(false));
    await anyRejection(resolving()(false));
  });
});
