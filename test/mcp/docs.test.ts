// Runs the programs and commands of docs/agents.md with its configuration, and compares its tables with the code.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { run } from "@sotto/cli";
import { createSeedWords, seedFromWords } from "@sotto/client";
import { SqliteStore } from "@sotto/client/sqlite";
import { parseDeployment } from "@sotto/protocol";
import { DocumentedCode } from "@sotto/test-kit/documented-code";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { bindingOf } from "../world/small-server.ts";
import { fund, openWallet, type World } from "../world/wallets.ts";
import { openMcpWorld } from "./support/world.ts";

const root = join(import.meta.dirname, "..", "..");
const GUIDE = readFileSync(join(root, "docs", "agents.md"), "utf8");
const BIN = join(root, "packages", "mcp", "dist", "main.js");

/** The guide's code blocks in one language. */
const blocks = (language: string): string[] =>
  [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, text = ""]) => text);
/** Names in the first column, from rows whose first cell begins with inline code. */
const namesIn = (section: string, column = 1): string[] => {
  const text = GUIDE.split(`\n## ${section}\n`)[1]?.split("\n## ")[0] ?? "";
  const cells = [...text.matchAll(/^\| (`[^|]*) \| ([^|]*) \|/gm)].map((match) => match[column] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name));
};

describe("docs/agents.md", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let code: DocumentedCode;
  let folder: string;
  /** Replaces the guide's example addresses, which do not exist. */
  const fitted = (text: string) =>
    text.replaceAll("https://pay.example/zk", world.serviceUrl).replaceAll("https://node.example", world.node.url);
  before(async () => {
    world = await openMcpWorld();
    code = new DocumentedCode(import.meta.dirname, "docs/agents.md");
    folder = dirname(code.path("x"));
    code.write("deployment.json", JSON.stringify(parseDeployment(world)));
  });
  after(() => code?.remove());
  const clientOf = async (command: string, args: readonly string[], env: Record<string, string>): Promise<Client> => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...BASE_ENVIRONMENT, ...env },
      cwd: folder,
    });
    await client.connect(transport);
    return client;
  };

  it("has programs that type-check under the strictest settings", () => {
    expect(code.names).to.deep.equal(["wallet.ts", "server.ts", "tools.ts", "pay.ts"]);
    expect(code.complaints()).to.equal("");
  });

  it("sets up a wallet with limits, and a server that is configured with that wallet", async () => {
    const [commands = ""] = blocks("");
    const home = join(folder, "home");
    for (const line of fitted(commands)
      .split("\n")
      .filter((one) => one.startsWith("sotto "))) {
      const args = line.replace("deployment.json", code.path("deployment.json")).split(" ").slice(1);
      const sink = new PassThrough().resume();
      const streams = { stdin: new PassThrough().end(), stdout: sink, stderr: new PassThrough(), terminal: false };
      const mint = args[0] === "deposit" ? ["--mint"] : [];
      const { signal } = new AbortController();
      const ended = await run([...args, ...mint, "--home", home], { streams, environment: {}, signal });
      expect(ended, `${line}: ${String(streams.stderr.read())}`).to.equal(0);
    }
    const [config = ""] = blocks("json");
    const { command, args } = JSON.parse(config).mcpServers.sotto as { command: string; args: string[] };
    const { bin } = JSON.parse(readFileSync(join(root, "packages", "mcp", "package.json"), "utf8"));
    expect(Object.keys(bin)).to.deep.equal([command]);
    const client = await clientOf(process.execPath, [BIN, ...args, "--registry", world.serviceUrl], {
      SOTTO_HOME: home,
    });
    const { tools } = await client.listTools();
    expect(
      namesIn("Tools")
        .filter((name) => tools.some((tool) => tool.name === name))
        .sort(),
    ).to.deep.equal(tools.map(({ name }) => name).sort());
    for (const { name, inputSchema } of tools) {
      const row = GUIDE.split("\n").find(
        (line) => line.startsWith("| ") && line.split("|")[1]?.includes(`\`${name}\``),
      )!;
      const listed = [...row.split("|")[2]!.matchAll(/`([a-z_]+)`/g)].map(([, argument]) => argument);
      expect(listed, name).to.deep.equal(Object.keys(inputSchema.properties ?? {}));
    }
    const fields = tools.flatMap(({ name, outputSchema }) =>
      ["fetch_paid", "pay_phone"].includes(name) ? Object.keys(outputSchema?.properties ?? {}) : [],
    );
    expect(namesIn("Results").sort()).to.include.members([...new Set(fields)].sort());
    const { contents } = await client.readResource({ uri: "sotto://policy" });
    const policy = JSON.parse((contents[0] as { text: string }).text) as Record<string, unknown>;
    expect(policy).to.include({ per_host_and_day: "1000000", per_day: "2000000", approval_timeout_ms: 300_000 });
    expect(policy["response_limit_bytes"]).to.equal(256 * 1024);
    expect(policy["limits"]).to.have.nested.property("approve_above.amount", "30000");
    const balance = await client.callTool({ name: "balance" });
    expect(balance.structuredContent).to.have.nested.property("spendable.amount", "5000000");
    await client.close();
  });

  it("charges for a tool and pays for it", async () => {
    const owner = await openWallet(world);
    const { binding, signature } = await bindingOf(world, owner, Account.createRandom());
    const { wallet, key: shieldedAddress, issuedAt } = binding;
    writeFileSync(code.path("recipient.json"), JSON.stringify({ wallet, shieldedAddress, signature, issuedAt }));
    for (const name of code.names) code.write(name, fitted(readFileSync(code.path(name), "utf8")));
    // Payments need an https origin, except on a local chain; this origin is only a name.
    const words = createSeedWords();
    const store = new SqliteStore(code.path("agent.sqlite"));
    await fund(world, await openWallet(world, { seed: seedFromWords(words), store }), [500_000n]);
    await store.close();
    const env = { ...BASE_ENVIRONMENT, SOTTO_WORDS: words, HOME: folder };
    const { stdout } = await promisify(execFile)(process.execPath, ["pay.ts"], { cwd: folder, env });
    expect(JSON.parse(stdout)).to.deep.equal([{ type: "text", text: "Lima: sunny" }]);
    await owner.scan();
    expect(owner.balance().total).to.equal(10_000n);
    const client = await clientOf(process.execPath, ["server.ts"], { SOTTO_WORDS: words, HOME: folder });
    expect((await client.listTools()).tools.map(({ name }) => name)).to.include("fetch_paid");
    await client.close();
  });
});
