// The parts of `npm run dev` that need no chain.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { get, request } from "node:http";
import { join } from "node:path";
import { browserCommand } from "@sotto/command/browser";
import { ownerOf } from "@sotto/command/ports";
import { listen } from "@sotto/dev/http";
import { parseDevOptions } from "@sotto/dev/options";
import { classify, dependenciesOf, watchSources } from "@sotto/dev/watch";
import { createWebHost } from "@sotto/dev/web";
import { startNode } from "@sotto/local/chain/node";
import { freePort } from "@sotto/server";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { rpc } from "./support/dev.ts";

describe("the parts of npm run dev", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("dev-parts");
  });

  it("parses the options, and names invalid ones", () => {
    expect(parseDevOptions([])).to.deep.include({ fresh: false, open: true, build: true, traffic: 0 });
    const { ports, traffic } = parseDevOptions(["--port=5000", "--traffic", "0.3"]);
    const names = ["web", "service", "news", "weather", "faucet", "chain", "model", "curator"];
    expect(ports).to.deep.equal(Object.fromEntries(names.map((name, i) => [name, 5_000 + i])));
    expect(traffic).to.equal(0.3);
    const wrong: readonly [string[], string][] = [
      [["--speed"], "UNKNOWN_OPTION"],
      [["start"], "UNKNOWN_OPTION"],
      [["--port"], "UNKNOWN_OPTION"],
      [["--port", "0"], "INVALID_PORT"],
      [["--port", "65529"], "INVALID_PORT"],
      [["--traffic", "0"], "INVALID_TRAFFIC"],
      [["--traffic", "11"], "INVALID_TRAFFIC"],
      [["--traffic", "1e1"], "INVALID_TRAFFIC"],
    ];
    for (const [args, code] of wrong)
      expect(() => parseDevOptions(args), args.join(" "))
        .to.throw()
        .with.property("code", code);
  });

  it("opens a browser only if one is installed and a user can see it", () => {
    expect(browserCommand({ DISPLAY: ":0" }, "linux")).to.deep.equal(["xdg-open"]);
    expect(browserCommand({ WAYLAND_DISPLAY: "wayland-0" }, "linux")).to.deep.equal(["xdg-open"]);
    expect(browserCommand({}, "linux")).to.equal(undefined);
    expect(browserCommand({}, "darwin")).to.deep.equal(["open"]);
    expect(browserCommand({ CI: "true", DISPLAY: ":0" }, "linux")).to.equal(undefined);
  });

  it("finds the process that listens on a port", async () => {
    const port = await freePort("127.0.0.1");
    expect(await ownerOf(port)).to.equal(undefined);
    const close = await listen(() => {}, port);
    expect(await ownerOf(port)).to.match(new RegExp(`\\(process ${process.pid}\\)$`));
    await close();
  });

  it("serves only the files of its folder", async () => {
    const web = join(folder, "dist");
    mkdirSync(join(web, "assets"), { recursive: true });
    writeFileSync(join(web, "index.html"), "<title>sotto</title>");
    writeFileSync(join(web, "assets", "app.js"), "run();");
    writeFileSync(join(folder, "secret.txt"), "secret");
    symlinkSync(join(folder, "secret.txt"), join(web, "link.txt"));
    const port = await freePort("127.0.0.1");
    const close = await listen(
      createWebHost(web, () => ({ name: "here" })),
      port,
    );
    const url = `http://127.0.0.1:${port}`;
    /** Sends the path unchanged; fetch would normalize it. */
    const statusOf = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get({ host: "127.0.0.1", port, path }, (response) => resolve(response.resume().statusCode)).on("error", reject);
      });
    try {
      const page = await fetch(url);
      expect(await page.text()).to.equal("<title>sotto</title>");
      expect(page.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(page.headers.get("content-security-policy")).to.contain("frame-ancestors 'none'");
      expect(page.headers.get("cross-origin-opener-policy")).to.equal("same-origin");
      expect((await fetch(`${url}/assets/app.js?v=1`)).headers.get("content-type")).to.contain("text/javascript");
      expect(await (await fetch(`${url}/sotto.json`)).json()).to.deep.equal({ name: "here" });
      const head = await fetch(`${url}/assets/app.js`, { method: "HEAD" });
      expect([head.status, await head.text(), head.headers.get("content-length")]).to.deep.equal([200, "", "6"]);
      expect((await fetch(url, { method: "POST" })).status).to.equal(405);
      for (const path of ["/../secret.txt", "/%2e%2e/secret.txt", "/link.txt", "/assets", "/none.js", "/%zz", "/%00"])
        expect(await statusOf(path), path).to.equal(404);
    } finally {
      await close();
    }
  });

  describe("a server of npm run dev", () => {
    /** The status for a request, or for the upgrade to a web socket, with these headers. */
    const statusOf = (url: string, headers: Readonly<Record<string, string>>, method = "POST") =>
      new Promise<number | undefined>((resolve, reject) => {
        request(url, { method, headers })
          .once("response", (response) => resolve(response.resume().statusCode))
          .once("upgrade", ({ statusCode }, socket) => {
            socket.destroy();
            resolve(statusCode);
          })
          .once("error", reject)
          .end(method === "POST" ? "{}" : undefined);
      });
    const elsewhere: readonly Readonly<Record<string, string>>[] = [
      { host: "rebound.example" },
      { host: "127.0.0.1.rebound.example" },
      { host: "localhost.rebound.example:4025" },
      { origin: "https://page.example" },
      { origin: "http://127.0.0.1.page.example" },
      { origin: "http://page.example:4020" },
      // A sandboxed frame, or a file.
      { origin: "null" },
      { origin: "page" },
    ];
    const here: readonly Readonly<Record<string, string>>[] = [
      {},
      { host: "localhost" },
      { host: "[::1]:4025" },
      { host: "app.localhost:4025" },
      { origin: "http://127.0.0.1:4020" },
      { origin: "http://localhost:5173" },
      { origin: "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn" },
    ];

    it("refuses web pages of other hosts, also under a name that leads to this machine", async () => {
      const port = await freePort("127.0.0.1");
      const close = await listen((_, response) => void response.writeHead(204).end(), port);
      const url = `http://127.0.0.1:${port}`;
      try {
        for (const headers of elsewhere) expect(await statusOf(url, headers), JSON.stringify(headers)).to.equal(403);
        for (const headers of here) expect(await statusOf(url, headers), JSON.stringify(headers)).to.equal(204);
      } finally {
        await close();
      }
    });

    it("is the chain too, over HTTP and web sockets", async function () {
      slow(this, "a chain");
      const node = await startNode();
      const socket = {
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "c290dG8gc290dG8gc290dA==",
      };
      const upgrade = (headers: Readonly<Record<string, string>>) =>
        statusOf(node.url, { ...socket, ...headers }, "GET");
      try {
        for (const headers of elsewhere) {
          expect(await statusOf(node.url, headers), JSON.stringify(headers)).to.equal(403);
          expect(await upgrade(headers), `upgrade with ${JSON.stringify(headers)}`).to.equal(403);
        }
        for (const headers of here) {
          expect(await statusOf(node.url, headers), JSON.stringify(headers)).to.equal(200);
          expect(await upgrade(headers), `upgrade with ${JSON.stringify(headers)}`).to.equal(101);
        }
        expect(await rpc(node.url, "eth_chainId")).to.equal("0x7a69");
      } finally {
        await node.stop();
      }
    });
  });

  it("classifies a change by the packages to build, the programs to restart, or the need for a fresh start", () => {
    const programs = ["resource-servers", "traffic"];
    const none = { packages: [], programs: [], needsFresh: false, needsRestart: false };
    expect(classify(["packages/client/src/a.ts", "packages/client/src/b.ts"], programs)).to.deep.equal({
      ...none,
      packages: ["client"],
    });
    expect(classify(["contracts/NoteTree.sol"], programs)).to.deep.equal({ ...none, needsFresh: true });
    expect(classify(["circuits/payment.circom"], programs)).to.deep.equal({ ...none, needsFresh: true });
    expect(classify(["packages/dev/src/traffic.ts"], programs)).to.deep.equal({ ...none, programs: ["traffic"] });
    expect(classify(["packages/dev/src/main.ts"], programs)).to.deep.equal({ ...none, needsRestart: true });
    expect([...dependenciesOf("service")]).to.include.members(["protocol", "verifier-service", "phone-registry"]);
    expect([...dependenciesOf("service")]).not.to.include("web");
  });

  it("detects changed files, also in new folders, and ignores build output", async () => {
    mkdirSync(join(folder, "packages", "client", "src"), { recursive: true });
    mkdirSync(join(folder, "packages", "client", "dist"));
    const seen: string[] = [];
    const stop = watchSources((files) => void seen.push(...files), folder);
    try {
      writeFileSync(join(folder, "packages", "client", "dist", "index.js"), "1");
      writeFileSync(join(folder, "packages", "client", "src", "index.ts"), "1");
      await eventually(async () => seen.includes("packages/client/src/index.ts"));
      mkdirSync(join(folder, "packages", "client", "src", "more"));
      writeFileSync(join(folder, "packages", "client", "src", "more", "other.ts"), "1");
      await eventually(async () => seen.includes("packages/client/src/more/other.ts"));
      expect(seen.filter((file) => file.includes("dist"))).to.deep.equal([]);
    } finally {
      stop();
    }
  });
});
