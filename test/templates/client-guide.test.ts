// docs/client.md: a reader pastes its programs into a project and runs them against `npm run dev`.
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { CLIENT_ERRORS, PURCHASE_ERRORS } from "@sotto/client";
import { PREPAID_ERRORS } from "@sotto/prepaid/client";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Contract, JsonRpcProvider } from "ethers";
import { Guide } from "./guide.ts";
import { openTemplates } from "./needs.ts";
import type { World } from "./world.ts";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "client.md"), "utf8");
/** The recipient in withdraw.ts. */
const WITHDRAWN_TO = "0x00000000000000000000000000000000000000cc";

interface Instructions {
  readonly payment: { readonly recipient: { readonly wallet: string; readonly shieldedAddress: string } };
  readonly metadata: { resource: string };
}

/** Opens a server that asks for the same payment as another server, and then refuses it. */
async function openRefusingServer(other: string): Promise<{ server: Server; url: string }> {
  const server = createServer(async (request, response) => {
    if (request.headers["x-payment-proof"] !== undefined) return void response.writeHead(402).end("no");
    const body = (await (await fetch(`${other}${request.url}`)).json()) as Instructions;
    body.metadata.resource = `${url}${request.url}`;
    const headers = { "content-type": "application/json", "www-authenticate": "x402-zk" };
    response.writeHead(402, headers).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, url };
}

describe("docs/client.md", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  let guide: Guide;
  let news: string;
  before(async () => {
    world = await openTemplates();
    guide = await Guide.open(world, "docs/client.md");
    news = `http://127.0.0.1:${world.port + 2}`;
  });

  const article = (number: number) => `Article ${number}. You paid for ${news}/articles/${number}.\n`;

  it("has only code blocks that run, or that state why they do not", () => {
    expect(guide.unnamed).to.deep.equal([]);
    expect(guide.names.length).to.be.greaterThan(7);
  });

  it("type-checks", async () => {
    expect(await guide.complaints()).to.equal("");
  });

  it("prepares seed words, an account with tokens, and the manifest", async () => {
    await guide.runCommands();
    expect(guide.environment["SOTTO_WORDS"]?.split(" ")).to.have.lengthOf(24);
  });

  it("deposits with one signature", async () => {
    expect(await guide.run("fund.ts")).to.match(
      /^signing\nsubmitting\n(?:settling\n)?(?:confirming\n)?(?:appending\n)?spendable\n1000000n 0x[0-9a-f]{64}\n$/,
    );
  });

  it("pays in three lines", async () => {
    expect(await guide.run("client.ts")).to.equal(`200 ${article(1)}\n`);
  });

  it("pays once under a key", async () => {
    await clearOfMidnight();
    expect(await guide.run("order.ts")).to.equal(`spent today: 50000\n${article(7)}\n`);
    expect(await guide.run("order.ts")).to.match(/^spent today: 100000\nbought before, in 0x[0-9a-f]{64}\n$/);
  });

  it("pays in parallel from split notes", async () => {
    expect(await guide.run("parallel.ts")).to.equal([1, 2].map((page) => `${article(page)}\n`).join(""));
  });

  it("reports its stages, and handles a payment that was not delivered", async () => {
    const { server, url } = await openRefusingServer(news);
    try {
      const text = readFileSync(join(guide.folder, "progress.ts"), "utf8");
      guide.write("refused.ts", text.replaceAll(news, url));
      const { code, output } = await guide.attempt("refused.ts");
      expect([code, output.split("\n")[0]]).to.deep.equal([1, "challenge 50000n "]);
      expect(output).to.include("PAID_BUT_REFUSED");
    } finally {
      server.close();
    }
    expect(await guide.run("decide.ts")).to.match(
      /^stopped http:\/\/\S+\/articles\/1 50000n PAID_BUT_REFUSED 0x[0-9a-f]{64}\n$/,
    );
    expect(await guide.run("progress.ts")).to.match(/delivered 50000n 0x[0-9a-f]{64}\n200\n$/);
  });

  it("pays step by step", async () => {
    const { payment } = (await (await fetch(`${news}/articles/1`)).json()) as Instructions;
    const { wallet, shieldedAddress } = payment.recipient;
    const call = `console.log(await buy(${JSON.stringify({ wallet, shieldedAddress })}, "${news}/steps"));`;
    guide.write("caller.ts", `import { buy } from "./steps.ts";\n${call}\n`);
    expect(await guide.run("caller.ts")).to.match(/^0x[0-9a-f]{64}\n$/);
  });

  it("withdraws", async () => {
    const { token } = JSON.parse(readFileSync(join(guide.folder, "deployment.json"), "utf8")) as { token: string };
    const provider = new JsonRpcProvider(world.environment["SOTTO_NODE"]);
    try {
      const abi = ["function balanceOf(address) view returns (uint256)"];
      const balanceOf = new Contract(token, abi, provider).getFunction("balanceOf");
      // The change of the last payment may not be in the tree yet.
      const output = await eventually(async () => {
        const attempt = await guide.attempt("withdraw.ts");
        return !attempt.output.includes("FUNDS_NOT_READY") && attempt.output;
      });
      expect(output).to.match(/^withdrew 0x[0-9a-f]{64}\n$/);
      expect(await balanceOf(WITHDRAWN_TO)).to.equal(250_000n);
    } finally {
      provider.destroy();
    }
  });

  it("has only programs that these tests ran", () => {
    expect(guide.unused()).to.deep.equal([]);
  });

  it("states for every purchase error what happened to the money", () => {
    const section = PAGE.slice(PAGE.indexOf("\n## Errors\n"), PAGE.indexOf("\n## Who learns what\n"));
    const named = [...section.matchAll(/`(…?[A-Z_]+)`/g)].map(([, code = ""]) => code);
    const covers = (name: string, code: string) =>
      name.startsWith("…") ? code.endsWith(name.slice(1)) : code === name;
    // Thrown by dismissPurchase, which makes no payment.
    const codes = Object.keys(PURCHASE_ERRORS).filter((code) => code !== "UNKNOWN_PURCHASE");
    expect(codes.filter((code) => !named.some((name) => covers(name, code)))).to.deep.equal([]);
    const known = Object.keys({ ...CLIENT_ERRORS, ...PREPAID_ERRORS });
    expect(named.filter((name) => !known.some((code) => covers(name, code)))).to.deep.equal([]);
  });
});
