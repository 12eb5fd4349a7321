// docs/cli.md: a shell runs its examples, in their order, with the packed program beside `npm run dev`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@sotto/cli-kit";
import { monthAt } from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { Guide } from "./guide.ts";
import { openTemplates } from "./needs.ts";
import type { World } from "./world.ts";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "cli.md"), "utf8");
const PHONE = "+14155550142";
/** The server whose pages the examples buy. Its recipient is the wallet in the folder `merchant`. */
const SERVER = `
import { readFileSync } from "node:fs";
import { sotto } from "@sotto/resource-server/express";
import { parseDeployment, parseMonthAddresses } from "@sotto/protocol";
import express from "express";

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
const app = express();
const paywall = sotto({
  origin: \`http://127.0.0.1:\${process.env.PORT}\`,
  price: "0.05",
  recipient: { addresses: parseMonthAddresses(readJson("served.json")) },
  service: process.env.SERVICE,
  chain: { ...parseDeployment(readJson("deployment.json")), rpcUrls: [process.env.RPC] },
});
app.all("/{*path}", paywall, (request, response) => void response.send(\`\${request.method} \${request.url}\`));
app.listen(Number(process.env.PORT));
`;

interface Example {
  /** The command line as shown on the page. */
  readonly line: string;
  readonly exit: number;
  /** The JSON output shown on the page, if any. */
  readonly shown: unknown;
}

function examples(): Example[] {
  return [...PAGE.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
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

describe("docs/cli.md", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  let guide: Guide;
  const merchant = Account.createRandom();
  /** The merchant's wallet has its own account; the payer uses the local chain's public one. */
  const MERCHANT = { SOTTO_ACCOUNT_KEY: merchant.privateKey };
  let ended: Promise<void> = Promise.resolve();
  let end: () => void = () => undefined;

  before(async () => {
    world = await openTemplates();
    guide = await Guide.open(world, "docs/cli.md");
    const { SOTTO_SERVICE: SERVICE = "", SOTTO_NODE: RPC = "" } = world.environment;
    guide.provide("deployment.json", await (await fetch(`${SERVICE}/deployment`)).text());
    guide.provide("query.json", '{"q":1}');
    guide.provide("server.js", SERVER);
    const rule = { base: "1000", units: [{ name: "rows", price: "1", per: 1 }], cap: "5000", grain: "1000" };
    guide.provide("routes.json", JSON.stringify({ routes: [{ method: "GET", path: "/rows", rule }] }));
    guide.provide("evidence.json", "{}");
    // The store of a server that has sold nothing yet.
    guide.provide("tokens.sqlite", "");
    const init = "sotto init --deployment deployment.json --rpc $RPC --service $SERVICE --home merchant --json";
    guide.environment = { RPC, SERVICE, HOME: guide.folder, SOTTO_PASSPHRASE: "correct horse battery staple" };
    const { shieldedAddress } = await json(init, MERCHANT);
    await json("sotto address schedule --out served.json --json --home merchant", MERCHANT);
    await new Promise<void>((ready, failed) => {
      ended = guide
        .serving("server.js", async (url) => {
          Object.assign(guide.environment, { SERVER: url });
          await new Promise<void>((resolve) => {
            end = resolve;
            ready();
          });
        })
        .catch(failed);
    });
    Object.assign(guide.environment, {
      DEPLOYMENT: "deployment.json",
      MERCHANT: shieldedAddress,
      WALLET: merchant.address.toLowerCase(),
      ACCOUNT: `0x${"79".repeat(20)}`,
      NOTHING: "0".repeat(32),
      MONTH: monthAt(Date.now()),
      // The weather server of `npm run dev` sells prepaid tokens.
      WEATHER: `http://127.0.0.1:${world.port + 3}`,
      // A curator that has not published anything yet.
      CURATOR: `${guide.environment["SERVER"]}/clean`,
      CURATOR_KEY: `0x${"ab".repeat(20)}`,
      // Not of this wallet.
      TRANSACTION: `0x${"cd".repeat(32)}`,
    });
  });
  after(async () => {
    end();
    await ended;
  });

  /** The JSON output of a command that succeeds. */
  async function json(line: string, variables: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    const { code, stdout, stderr } = await guide.shell(line, variables);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as Record<string, string>;
  }

  /** Values for later command lines. */
  async function learn(line: string, answer: unknown): Promise<void> {
    if (line.startsWith("sotto init"))
      guide.environment["PAYER"] = (answer as { shieldedAddress: string }).shieldedAddress;
    if (line.startsWith("sotto payments --json"))
      guide.environment["ID"] = (answer as { id: string; amount: string }[]).find(
        ({ amount }) => amount === "250000",
      )!.id;
    // The code comes through the output of `npm run dev`, maybe after the command has ended.
    if (/^sotto link \S+ --home/.test(line))
      guide.environment["CODE"] = await eventually(async () => world.lastCode(PHONE));
  }

  for (const { line, exit, shown } of examples())
    it(`$ ${line}`, async () => {
      const { code, stdout, stderr } = await guide.shell(line, line.includes("--home merchant") ? MERCHANT : {});
      expect(code, stderr).to.equal(exit);
      if (exit !== 0) return learn(line, undefined);
      if (!line.includes("--json") && !line.includes("--output")) expect(stdout).to.match(/\S/);
      const answer: unknown = line.includes("--json") ? JSON.parse(stdout) : undefined;
      const comparable = line.includes("sotto request") ? { ...Object(answer), headers: {} } : answer;
      expect(shape(comparable), stdout).to.deep.equal(shape(shown));
      return learn(line, answer);
    });

  it("lists exactly the exit codes", () => {
    const rows = [...PAGE.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, code, means]) => ({
      code: Number(code),
      means,
    }));
    expect(rows).to.deep.equal(Object.values(EXIT));
  });

  it("has an example of every command", async () => {
    const { stdout } = await guide.shell("sotto --help");
    const commands = [...stdout.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?) {2,}/gm)].map(([, name]) => name!);
    expect(commands.length).to.be.greaterThan(20);
    const lines = examples().map(({ line }) => line);
    for (const command of commands)
      expect(
        lines.some((line) => line.startsWith(`sotto ${command}`)),
        `an example of ${command}`,
      ).to.equal(true);
  });
});
