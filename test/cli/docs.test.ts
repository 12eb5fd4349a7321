import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@sotto/cli";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { artifacts } from "../world/service.ts";
import { Cli } from "./support/cli.ts";
import { openResourceServer, type ResourceServer } from "./support/resource-server.ts";
import { type CliWorld, openCli, openCliWorld } from "./support/world.ts";

const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "cli.md"), "utf8");

interface Example {
  /** The command line as shown on the page. */
  readonly line: string;
  readonly exit: number;
  /** The JSON output shown on the page, if any. */
  readonly shown: unknown;
}

function examples(): Example[] {
  return [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [line = "", ...shown] = text.trimEnd().split("\n");
        const exit = Number(/# exit (\d+)$/.exec(line)?.[1] ?? 0);
        return { line, exit, shown: shown.length === 0 ? undefined : JSON.parse(shown.join("\n")) };
      }),
  );
}

/** Names and types of the fields that programs rely on. For a list, the fields of its first element. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])];
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shape(item)]));
}

/** Splits a command line into words, with quotes and variables as in a shell. */
function words(line: string, variables: ReadonlyMap<string, string>): string[] {
  const command = line.replace(/ *#.*$/, "").replace(/ < \S+$/, "");
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) =>
    (quoted ?? plain ?? "").replaceAll(/\$([A-Z]+)/g, (_, name: string) => {
      expect(variables.has(name), `$${name} is known`).to.equal(true);
      return variables.get(name)!;
    }),
  );
}

describe("docs/cli.md", function () {
  slow(this, "a chain, a service and the command line's processes");
  let world: CliWorld;
  let payer: Cli;
  let merchant: Cli & { account: string };
  let restored: Cli;
  let server: ResourceServer;
  const variables = new Map<string, string>();
  before(async () => {
    world = await openCliWorld();
    merchant = await openCli(world, 0n);
    server = await openResourceServer(world, merchant);
    payer = new Cli({ SOTTO_PASSPHRASE: "correct horse battery staple" });
    restored = new Cli({ SOTTO_PASSPHRASE: "correct horse battery staple" });
    restored.sameFolder(payer);
    merchant.sameFolder(payer);
    writeFileSync(payer.path("query.json"), '{"q":1}');
    const { shieldedAddress } = await merchant.json<{ shieldedAddress: string }>(["address"]);
    const given = {
      DEPLOYMENT: world.deploymentFile,
      RPC: world.node.url,
      SERVICE: world.service.url,
      SERVER: server.url,
    };
    for (const [name, value] of Object.entries({
      ...given,
      MERCHANT: shieldedAddress,
      WALLET: merchant.account,
      ACCOUNT: `0x${"79".repeat(20)}`,
      NOTHING: "0".repeat(32),
    }))
      variables.set(name, value);
  });
  after(async () => {
    await server?.close();
    for (const cli of [payer, merchant, restored]) cli?.remove();
  });

  /** Values for later command lines. */
  const learn = async (line: string, answer: unknown) => {
    const fields = Object(answer) as Record<string, unknown>;
    if (line.startsWith("sotto init")) {
      variables.set("PAYER", String(fields["shieldedAddress"]));
      // Otherwise the first command that generates a proof would download the artifacts from the service.
      await payer.json(["init", "--update", "--artifacts", artifacts]);
    }
    if (line.startsWith("sotto payments --json")) {
      const sent = (answer as { id: string; amount: string }[]).find(({ amount }) => amount === "250000");
      variables.set("ID", sent!.id);
    }
    if (/^sotto link \S+ --home/.test(line)) {
      const last = readFileSync(world.codes, "utf8").trim().split("\n").at(-1)!;
      variables.set("CODE", (JSON.parse(last) as { code: string }).code);
    }
  };

  for (const { line, exit, shown } of examples())
    it(`$ ${line}`, async () => {
      const [name, ...args] = words(line, variables);
      expect(name).to.equal("sotto");
      const at = args.indexOf("--home");
      const [, folder] = at < 0 ? [] : args.splice(at, 2);
      const cli = folder === "merchant" ? merchant : folder === "restored" ? restored : payer;
      const file = / < (\S+)$/.exec(line)?.[1];
      const input = file === undefined ? {} : { input: readFileSync(payer.path(file), "utf8") };
      // The local chain's public account, as on the page. The merchant has its own account.
      const ended = await cli.run(args, { ...input, cwd: payer.folder });
      expect(ended.code, ended.stderr).to.equal(exit);
      if (exit !== 0) return learn(line, undefined);
      if (!args.includes("--json") && !args.includes("--output")) expect(ended.stdout).to.match(/\S/);
      const answer: unknown = args.includes("--json") ? JSON.parse(ended.stdout) : undefined;
      const comparable = line.includes("sotto request") ? { ...Object(answer), headers: {} } : answer;
      expect(shape(comparable), ended.stdout).to.deep.equal(shape(shown));
      return learn(line, answer);
    });

  it("lists exactly the exit codes", () => {
    const rows = [...page.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, means]) => ({
      code: Number(code),
      means,
    }));
    expect(rows).to.deep.equal(Object.values(EXIT));
  });

  it("has an example of every command", async () => {
    const { stdout } = await payer.run(["--help"]);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map(([, name]) => name!);
    expect(commands.length).to.be.greaterThan(20);
    const lines = examples().map(({ line }) => line);
    for (const command of commands)
      expect(
        lines.some((line) => line.startsWith(`sotto ${command}`)),
        `an example of ${command}`,
      ).to.equal(true);
  });
});
