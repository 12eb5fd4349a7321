// Runs the programs of docs/phone-registry.md, and checks that its settings, commands and metrics exist.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REGISTRY_SETTINGS } from "@sotto/phone-registry";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Wallet } from "ethers";
import {
  account,
  linkVerified,
  newNumber,
  newShieldedAddress,
  openTestRegistry,
  openWorld,
  registryEnvironment,
  type TestRegistry,
} from "./support/world.ts";

const root = join(import.meta.dirname, "..", "..");
const text = readFileSync(join(root, "docs", "phone-registry.md"), "utf8");
const blocks = [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);

describe("docs/phone-registry.md", function () {
  slow(this, "a chain and a registry's processes");
  let registry: TestRegistry;
  let folder: string;
  before(async () => {
    registry = await openTestRegistry();
    // Inside the checkout, so that Node finds the packages.
    mkdirSync(join(import.meta.dirname, "build"), { recursive: true });
    folder = mkdtempSync(join(import.meta.dirname, "build", "docs-"));
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await registry.close();
  });

  /** Runs a block as a program. @param begin code that the document assumes @param end code of the test */
  function run(title: string, begin: string, end = "", environment: Record<string, string> = {}): Promise<string> {
    const block = blocks.find((one) => one.startsWith(`// ${title}`));
    if (block === undefined) throw new Error(`no block begins with ${title}`);
    const path = join(folder, `${title.replaceAll(/\W+/g, "-")}.mjs`);
    writeFileSync(path, `${begin}\n${block}\n${end}\n`);
    return new Promise((resolve, reject) => {
      // Not spawnSync, because the program calls the registry in this process.
      const child = spawn(process.execPath, [path], { cwd: folder, env: { ...process.env, ...environment } });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (part) => {
          said += String(part);
        });
      child.on("error", reject);
      child.on("close", (code) => (code === 0 ? resolve(said) : reject(new Error(said))));
    });
  }
  const constants = (values: Record<string, unknown>) =>
    Object.entries(values)
      .map(([name, value]) => `const ${name} = ${typeof value === "bigint" ? `${value}n` : JSON.stringify(value)};`)
      .join("\n");

  it("links a number as documented", async () => {
    const { privateKey, address } = Wallet.createRandom();
    const given = { registry: registry.url, phone: newNumber(), wallet: address.toLowerCase() };
    const begin = `import { Wallet } from "ethers";\n${constants({ ...given, shieldedAddress: newShieldedAddress() })}
const account = new Wallet("${privateKey}");`;
    expect(await run("Links a number", begin)).to.equal("enter-code\n");
  });

  it("resolves a number as documented, and rejects unverified ones", async () => {
    const [signer, phone] = [account(), newNumber()];
    await linkVerified(registry, signer, phone);
    const { chainId, pool, node } = registry.world;
    const given = { registry: registry.url, phone, chainId: BigInt(chainId), pool };
    const begin = (values: object) =>
      `import { JsonRpcProvider } from "ethers";\n${constants({ ...given, ...values })}\nconst provider = new JsonRpcProvider("${node.url}");`;
    const end = "provider.destroy();";
    expect(await run("Resolves a number", begin({}), end)).to.include(`pay ${signer.address} at 0x`);
    let refused = "";
    await run("Resolves a number", begin({ pool: `0x${"11".repeat(20)}` }), end).catch((error: Error) => {
      refused = error.message;
    });
    expect(refused).to.include("not this number, chain, pool and registry");
  });

  it("receives codes as documented: only signed ones, each once", async () => {
    const begin = `const secret = "0123456789abcdef0123456789abcdef";
const texts = [];
const text = async (...parts) => void texts.push(parts);`;
    const end = `import { once } from "node:events";
import { WebhookSender } from "@sotto/phone-registry";
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = \`http://127.0.0.1:\${server.address().port}/codes\`;
const message = { phone: "+4915112345678", code: "123456", wallet: "0x" + "ab".repeat(20), expiresAt: Date.now() + 60000 };
const send = (key) => new WebhookSender({ url, secret: key, timeoutMs: 60000, tries: 1 }).send(message);
await send(secret);
const stranger = await send("x".repeat(32)).catch(({ code }) => code);
console.log(JSON.stringify([texts.length, texts[0][0], stranger]));
server.close();
server.closeAllConnections();`;
    const said = await run("Checks who calls", begin, end);
    expect(JSON.parse(said)).to.deep.equal([1, "+4915112345678", "CODE_NOT_SENT"]);
  });

  it("starts a registry with a custom sender", async () => {
    const world = await openWorld();
    const begin = "const text = async () => undefined;";
    const said = await run("A registry whose codes", begin, "await registry.close();", registryEnvironment(world));
    expect(said).to.match(/^http:\/\/127\.0\.0\.1:\d+\/zk\n$/);
  });

  it("contains only the programs that these tests run", () => {
    expect(blocks.map((block) => block.split("\n")[0])).to.have.length(4);
  });

  it("names only existing settings, commands and metrics", async () => {
    const known = new Set(Object.values(REGISTRY_SETTINGS).map(({ variable }) => variable as string));
    known.add("SOTTO_PHONE_REGISTRY");
    const named = [...text.matchAll(/SOTTO_[A-Z_]+/g)].map((match) => match[0].replace(/_FILE$/, ""));
    expect(named.filter((name) => !known.has(name) && !known.has(`${name}_FILE`))).to.deep.equal([]);
    const program = join(root, "packages", "phone-registry", "dist", "main.js");
    const { stderr: usage } = spawnSync(process.execPath, [program, "help"], { encoding: "utf8" });
    for (const [, command = ""] of text.matchAll(/sotto-phone-registry ([a-z-]+)/g))
      expect(usage).to.include(`  ${command}`);
    const shown = await (await fetch(`${new URL(registry.url).origin}/metrics`)).text();
    for (const [, name = ""] of text.matchAll(/`(sotto_phone_[a-z_]+)/g)) expect(shown).to.include(`# TYPE ${name} `);
  });
});
