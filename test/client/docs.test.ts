// Type-checks every program of docs/client.md, and runs it against a real chain, service and resource server.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT_ERRORS, createSeedWords, PURCHASE_ERRORS, type Wallet } from "@sotto/client";
import { parseDeployment } from "@sotto/protocol";
import { expect } from "chai";
import { Contract } from "ethers";
import { clearOfMidnight } from "../kit/clock.ts";
import { BASE_ENVIRONMENT } from "../kit/environment.ts";
import { slow } from "../kit/slow.ts";
import { SmallServer } from "../world/small-server.ts";
import { accountOf, openWallet, openWorld, type World } from "../world/wallets.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const GUIDE = readFileSync(join(ROOT, "docs", "client.md"), "utf8");
/** Inside the checkout, so that Node finds the packages; git ignores it. */
const FOLDER = join(import.meta.dirname, "build");

/** The guide's code blocks, by the name in their first line. */
function programs(): Map<string, string> {
  const blocks = [...GUIDE.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  return new Map(blocks.map((block) => [/^\/\/ (\w+\.ts)$/m.exec(block.split("\n")[0]!)![1]!, block]));
}

/** The recipient in withdraw.ts. */
const WITHDRAWN_TO = "0x00000000000000000000000000000000000000cc";

describe("docs/client.md", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let merchant: Wallet;
  let server: SmallServer;
  const words = createSeedWords();
  /** The second account, which has the test tokens. */
  const account = accountOf(1);
  before(async () => {
    world = await openWorld();
    merchant = await openWallet(world);
    server = await SmallServer.open(world, merchant, { price: 10_000n });
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, "deployment.json"), JSON.stringify(parseDeployment(world)));
    for (const [name, text] of programs()) writeFileSync(join(FOLDER, name), fitted(text));
    const config = { extends: "../../../tsconfig.base.json", include: ["*.ts"] };
    const compilerOptions = { noEmit: true, types: ["node"], lib: ["ES2023", "DOM"] };
    writeFileSync(join(FOLDER, "tsconfig.json"), JSON.stringify({ ...config, compilerOptions }));
  });
  after(async () => {
    await server?.close();
    rmSync(FOLDER, { recursive: true, force: true });
  });

  /** Replaces the guide's addresses, which do not exist. */
  const fitted = (text: string) =>
    text
      .replaceAll("https://pay.example/zk", world.serviceUrl)
      .replaceAll("https://data.example", server.url)
      .replaceAll("https://node.example", world.node.url);
  /** Runs a program that ends by itself. Asynchronous, because its server runs in this process. */
  const start = async (name: string) => {
    // Its home is where downloaded files are cached.
    const env = { ...BASE_ENVIRONMENT, SOTTO_WORDS: words, ACCOUNT_KEY: account.privateKey, HOME: FOLDER };
    const child = spawn(process.execPath, [name], { cwd: FOLDER, env, stdio: ["ignore", "pipe", "pipe"] });
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => void said.push(String(chunk)));
    const code = await new Promise((resolve) => child.once("close", resolve));
    return { code, output: said.join("") };
  };
  const run = async (name: string) => {
    const { code, output } = await start(name);
    expect(code, output).to.equal(0);
    return output;
  };

  it("type-checks", () => {
    const { status, stdout } = spawnSync("tsc", ["-p", FOLDER], { encoding: "utf8" });
    expect(status, stdout).to.equal(0);
    expect(programs().size).to.be.greaterThan(7);
  });

  it("deposits with one signature", async () => {
    const output = await run("fund.ts");
    expect(output).to.match(
      /^signing\nsubmitting\n(?:settling\n)?(?:confirming\n)?(?:appending\n)?spendable\n1000000n 0x[0-9a-f]{64}\n$/,
    );
  });

  it("pays in three lines", async () => {
    expect(await run("client.ts")).to.equal("200 sold /report \n");
  });

  it("pays once under a key", async () => {
    await clearOfMidnight();
    expect(await run("order.ts")).to.equal('spent today: 10000\nsold /order {"book":7}\n');
    expect(await run("order.ts")).to.match(/^spent today: 20000\nbought before, in 0x[0-9a-f]{64}\n$/);
  });

  it("pays in parallel from split notes", async () => {
    expect(await run("parallel.ts")).to.equal([1, 2, 3, 4].map((page) => `sold /pages/${page} \n`).join(""));
  });

  it("reports its stages, and handles a payment that was not delivered", async () => {
    server.options.misbehave = (_, response, proof) => {
      if (proof === undefined) return false;
      response.writeHead(402).end("no");
      return true;
    };
    const { code, output } = await start("progress.ts");
    expect([code, output.split("\n")[0]]).to.deep.equal([1, "challenge 10000n "]);
    expect(output).to.include("PAID_BUT_REFUSED");
    delete server.options.misbehave;
    expect(await run("decide.ts")).to.match(/^stopped http:\/\/\S+\/report 10000n PAID_BUT_REFUSED 0x[0-9a-f]{64}\n$/);
    expect(await run("progress.ts")).to.match(/delivered 10000n 0x[0-9a-f]{64}\n200\n$/);
  });

  it("pays step by step", async () => {
    const recipient = { wallet: server.account.address, shieldedAddress: merchant.shieldedAddress };
    const call = `console.log(await buy(${JSON.stringify(recipient)}, "${server.url}/steps"));`;
    writeFileSync(join(FOLDER, "caller.ts"), `import { buy } from "./steps.ts";\n${call}\n`);
    await merchant.scan();
    const before = merchant.balance().total;
    expect(await run("caller.ts")).to.match(/^0x[0-9a-f]{64}\n$/);
    await merchant.scan();
    expect(merchant.balance().total - before).to.equal(10_000n);
  });

  it("withdraws", async () => {
    const abi = ["function balanceOf(address) view returns (uint256)"];
    const balanceOf = new Contract(world.token, abi, world.provider).getFunction("balanceOf");
    expect(await run("withdraw.ts")).to.match(/^withdrew 0x[0-9a-f]{64}\n$/);
    expect(await balanceOf(WITHDRAWN_TO)).to.equal(250_000n);
  });

  it("says of every error of a purchase what happened to the money", () => {
    const section = GUIDE.slice(GUIDE.indexOf("\n## Errors\n"), GUIDE.indexOf("\n## Who learns what\n"));
    const named = [...section.matchAll(/`(…?[A-Z_]+)`/g)].map(([, code = ""]) => code);
    const covers = (name: string, code: string) =>
      name.startsWith("…") ? code.endsWith(name.slice(1)) : code === name;
    // Thrown by dismissPurchase, which asks for no payment.
    const codes = Object.keys(PURCHASE_ERRORS).filter((code) => code !== "UNKNOWN_PURCHASE");
    expect(codes.filter((code) => !named.some((name) => covers(name, code)))).to.deep.equal([]);
    const known = Object.keys(CLIENT_ERRORS);
    expect(named.filter((name) => !known.some((code) => covers(name, code)))).to.deep.equal([]);
  });
});
