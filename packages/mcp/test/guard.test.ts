// Which addresses an agent may reach.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { isPrivateAddress, parseTarget, publicFetch, separateFetch } from "../src/network/guard.ts";

describe("the network guard", () => {
  it("recognizes private addresses in every form", () => {
    for (const address of [
      "127.0.0.1",
      "0.0.0.0",
      "10.255.0.1",
      "100.64.0.1",
      "169.254.169.254",
      "172.31.255.255",
      "192.168.1.1",
      "224.0.0.1",
      "255.255.255.255",
      "::1",
      "::",
      "::ffff:127.0.0.1",
      "::ffff:a00:1",
      "64:ff9b::a00:1",
      "64:ff9b::",
      "64:FF9B:0::169.254.169.254",
      "64:ff9b:1::101:101",
      "2002:7f00:1::",
      "fc00::1",
      "fe80::1",
      "ff02::1",
      "not an address",
    ])
      expect(isPrivateAddress(address), address).to.equal(true);
    for (const address of [
      "1.1.1.1",
      "100.63.255.255",
      "172.32.0.1",
      "2606:4700::1111",
      "::ffff:1.1.1.1",
      "64:ff9b::101:101",
    ])
      expect(isPrivateAddress(address), address).to.equal(false);
  });

  it("accepts http and https URLs without a user name", () => {
    expect(parseTarget("https://data.example/a").host).to.equal("data.example");
    for (const text of ["ftp://data.example/", "javascript:1", "https://me:word@data.example/", "data.example", ""])
      expect(() => parseTarget(text), text)
        .to.throw()
        .with.property("code", "TARGET_NOT_ALLOWED");
  });

  it("ignores invisible characters around a URL, and names one within it", () => {
    const url = "https://data.example/report";
    for (const text of [`\u202a${url}\u202c`, `\ufeff${url}\u200b`, ` ${url}\u00a0\n`])
      expect(parseTarget(text).href).to.equal(url);
    for (const text of [`${url}\u200bs`, "https://data\u00ad.example/", "https://data.example/a\nb", `\u202e${url}`])
      expect(() => parseTarget(text), JSON.stringify(text))
        .to.throw(/the URL contains U\+/)
        .with.property("code", "TARGET_NOT_ALLOWED");
    expect(parseTarget(`${url}/%E2%80%8B`).pathname).to.equal("/report/%E2%80%8B");
  });

  it("refuses names of private addresses", async () => {
    const error = await rejection(publicFetch()("http://localhost:8080/"));
    expect(error.code).to.equal("TARGET_NOT_ALLOWED");
  });

  it("refuses a redirect to a private address", async () => {
    let inside = 0;
    const server = createServer((request, response) => {
      if (request.url === "/inside") inside += 1;
      response.writeHead(302, { location: `http://127.0.0.2:${port}/inside` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      // No test reaches a public address; 127.0.0.1 takes its place.
      const send = publicFetch((address) => address !== "127.0.0.1");
      const error = await rejection(send(`http://127.0.0.1:${port}/`));
      expect([error.code, inside]).to.deep.equal(["TARGET_NOT_ALLOWED", 0]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("opens a connection for each request if they must be separate, and guards it", async () => {
    const connections = new Set<number>();
    const server = createServer(({ socket }, response) => {
      connections.add(socket.remotePort!);
      response.end("answer");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const opened = async (send: typeof fetch) => {
      connections.clear();
      for (let i = 0; i < 3; i++) await (await send(url)).text();
      await Promise.all([1, 2].map(async () => (await send(url)).text()));
      return connections.size;
    };
    try {
      const isPrivate = (address: string) => address !== "127.0.0.1";
      expect(await opened(publicFetch(isPrivate))).to.be.lessThan(5);
      expect(await opened(separateFetch(isPrivate))).to.equal(5);
      const error = await rejection(separateFetch()(url));
      expect([error.code, connections.size]).to.deep.equal(["TARGET_NOT_ALLOWED", 5]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
