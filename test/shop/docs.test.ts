// The shops of the documentation, as they stand there: written into files, type-checked, started, and paid.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { shopOptions } from "./support/options.ts";
import { headerOf, showing } from "./support/payments.ts";
import { ORIGIN, openShopWorld, pay, type ShopWorld } from "./support/world.ts";

const root = join(import.meta.dirname, "..", "..");
const SHOPS = ["express-shop.ts", "fastify-shop.ts", "hono-shop.ts", "fetch-shop.ts"];
const START_MS = 30_000;

/** TypeScript blocks that begin with the name of their file. */
function namedBlocks(path: string): Map<string, string> {
  const text = readFileSync(join(root, path), "utf8");
  const blocks = [...text.matchAll(/^```ts\n(\/\/ ([\w-]+\.ts)\n[\s\S]*?)^```$/gm)];
  return new Map(blocks.map(([, code = "", name = ""]) => [name, code]));
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** As soon as it listens. */
async function reach(url: string): Promise<Response> {
  for (const end = Date.now() + START_MS; ; await new Promise((resolve) => setTimeout(resolve, 50)))
    try {
      return await fetch(url);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
}

describe("the shops of the package's README", () => {
  const blocks = namedBlocks("packages/resource-server/README.md");
  let world: ShopWorld;
  let folder: string;
  before(async () => {
    world = await openShopWorld();
    // Inside of the checkout, whose packages they import.
    mkdirSync(join(root, ".sotto"), { recursive: true });
    folder = mkdtempSync(join(root, ".sotto", "docs-"));
    for (const [name, code] of blocks) writeFileSync(join(folder, name), code);
  });
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it("are there, and hold under the strictest types", () => {
    expect([...blocks.keys()]).to.deep.equal(["options.ts", ...SHOPS]);
    const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2023", skipLibCheck: true };
    const more = { allowImportingTsExtensions: true, types: ["node"], lib: ["es2023", "dom"] };
    const config = { compilerOptions: { ...compilerOptions, ...more }, files: [...blocks.keys()] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    try {
      execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", folder], { encoding: "utf8" });
    } catch (error) {
      expect.fail((error as { stdout: string }).stdout);
    }
  });

  for (const name of SHOPS)
    it(`${name} sells its report, and only for a payment`, async () => {
      const options = JSON.stringify(shopOptions(world));
      writeFileSync(join(folder, "options.ts"), `export const options = ${options};\n`);
      const port = await freePort();
      const env = { PATH: process.env["PATH"] ?? "", PORT: String(port) };
      const child = spawn(process.execPath, [join(folder, name)], { env, stdio: ["ignore", "ignore", "inherit"] });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      try {
        const url = `http://localhost:${port}`;
        expect(await (await reach(`${url}/health`)).text()).to.equal("free");
        expect((await fetch(`${url}/report`)).status).to.equal(402);
        const headers = showing(headerOf(await pay(world, { target: "/report" })));
        const response = await fetch(`${url}/report`, { headers });
        expect([response.status, await response.text()]).to.deep.equal([200, `paid for ${ORIGIN}/report`]);
      } finally {
        child.kill("SIGKILL");
        await ended;
      }
    });
});
