// docs/agents.md: its commands, configuration and programs, and its tables compared with the server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Guide } from "../templates/guide.ts";
import { type Prepared, prepare } from "../templates/prepared.ts";
import type { World } from "../templates/world.ts";
import { openAddons } from "./needs.ts";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "agents.md"), "utf8");
/** The page's configuration of an MCP client. */
const [, CONFIG = ""] = /^```json\n([\s\S]*?)^```$/m.exec(PAGE) ?? [];

/** Names in the first column, from rows whose first cell begins with inline code. */
const namesIn = (section: string, column = 1): string[] => {
  const text = PAGE.split(`\n## ${section}\n`)[1]?.split("\n## ")[0] ?? "";
  const cells = [...text.matchAll(/^\| (`[^|]*) \| ([^|]*) \|/gm)].map((match) => match[column] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name));
};

/** Starts a server as an MCP client does, and prints what it offers. */
const ASK = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const client = new Client({ name: "test", version: "1.0.0" });
const { command, args } = JSON.parse(process.env.STARTED);
await client.connect(new StdioClientTransport({ command, args, env: { ...process.env } }));
const { tools } = await client.listTools();
const policy = await client.readResource({ uri: "sotto://policy" });
const balance = await client.callTool({ name: "balance" });
await client.close();
console.log(JSON.stringify({ tools, policy: JSON.parse(policy.contents[0].text), balance: balance.structuredContent }));
`;

interface Answers {
  readonly tools: readonly {
    readonly name: string;
    readonly inputSchema: { readonly properties?: object };
    readonly outputSchema?: { readonly properties?: object };
  }[];
  readonly policy: Readonly<Record<string, unknown>>;
  readonly balance: object;
}

describe("docs/agents.md", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  let guide: Guide;
  let prepared: Prepared;
  before(async () => {
    world = await openAddons();
    prepared = await prepare(world);
    guide = await Guide.open(world, "docs/agents.md");
    prepared.give(guide);
    guide.provide("ask.js", ASK);
  });
  const ask = async (command: string, args: readonly string[]): Promise<Answers> => {
    guide.environment["STARTED"] = JSON.stringify({ command, args });
    const { code, stdout, stderr } = await guide.shell("node ask.js");
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as Answers;
  };

  it("has only programs that run, and type-check", async () => {
    expect(guide.unnamed).to.deep.equal([CONFIG]);
    expect(guide.names).to.deep.equal(["wallet.ts", "server.ts", "tools.ts", "pay.ts"]);
    expect(await guide.complaints()).to.equal("");
  });

  it("sets up a wallet with limits, and a server that is configured with that wallet", async () => {
    const { environment } = guide;
    guide.environment = { HOME: guide.folder };
    const commands = guide.plain("docs/agents.md").find((text) => text.includes("sotto init")) ?? "";
    const lines = commands.split("\n").filter((line) => line.startsWith("sotto "));
    expect(lines).to.have.lengthOf(3);
    for (const line of lines) {
      const { code, stderr } = await guide.shell(line);
      expect(code, `${line}: ${stderr}`).to.equal(0);
    }
    const { command, args } = JSON.parse(CONFIG).mcpServers.sotto as { command: string; args: string[] };
    const { tools, policy, balance } = await ask(command, [...args, "--registry", world.environment["SOTTO_SERVICE"]!]);
    const names = tools.map(({ name }) => name).sort();
    expect(
      namesIn("Tools")
        .filter((name) => names.includes(name))
        .sort(),
    ).to.deep.equal(names);
    for (const { name, inputSchema } of tools) {
      const row = PAGE.split("\n").find(
        (line) => line.startsWith("| ") && line.split("|")[1]?.includes(`\`${name}\``),
      )!;
      const listed = [...row.split("|")[2]!.matchAll(/`([a-z_]+)`/g)].map(([, argument]) => argument);
      expect(listed, name).to.deep.equal(Object.keys(inputSchema.properties ?? {}));
    }
    const fields = tools.flatMap(({ name, outputSchema }) =>
      ["fetch_paid", "pay_phone"].includes(name) ? Object.keys(outputSchema?.properties ?? {}) : [],
    );
    expect(namesIn("Results").sort()).to.include.members([...new Set(fields)].sort());
    expect(policy).to.include({ per_host_and_day: "1000000", per_day: "2000000", approval_timeout_ms: 300_000 });
    expect(policy["response_limit_bytes"]).to.equal(256 * 1024);
    expect(policy["limits"]).to.have.nested.property("approve_above.amount", "30000");
    expect(balance).to.have.nested.property("spendable.amount", "5000000");
    guide.environment = environment;
  });

  it("charges for a tool, and pays for it", async () => {
    expect(JSON.parse(await guide.run("pay.ts"))).to.deep.equal([{ type: "text", text: "Lima: sunny" }]);
    const { tools } = await ask("node", ["server.ts"]);
    expect(tools.map(({ name }) => name)).to.include("fetch_paid");
  });
});
