import { readFileSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import type { Cli } from "./support/cli.ts";
import { openResourceServer, type ResourceServer } from "./support/resource-server.ts";
import { type CliWorld, listen, openCli, openCliWorld } from "./support/world.ts";

interface Answer {
  status: number;
  body: string;
  headers: Record<string, string>;
  payment: { id: string; amount: string; decimal: string; resource: string; transaction: string } | null;
}

const spent = async (cli: Cli): Promise<bigint> => {
  const { total } = await cli.json<{ total: { amount: string } }>(["balance"]);
  return 5_000_000n - BigInt(total.amount);
};

describe("sotto: paying", function () {
  slow(this, "a chain, a service and the command line's processes");
  let world: CliWorld;
  let merchant: Cli & { account: string };
  let payer: Cli & { account: string };
  let server: ResourceServer;
  before(async () => {
    await clearOfMidnight();
    world = await openCliWorld();
    merchant = await openCli(world, 0n);
    payer = await openCli(world);
    server = await openResourceServer(world, merchant);
    await payer.json(["deposit", "5", "--notes", "5"]);
  });
  after(async () => {
    await server?.close();
  });

  it("pays a 402, and writes only the body to standard output", async () => {
    const { code, stdout, stderr } = await payer.run(["pay", `${server.url}/article/1`, "--max", "0.05"]);
    expect(stdout).to.equal("GET /article/1");
    expect(stderr).to.match(/^paid 0\.05 \S+: 0x[0-9a-f]{64}\n$/);
    expect(code).to.equal(0);
    expect(await spent(payer)).to.equal(50_000n);
    expect(server.amounts).to.deep.equal([50_000n]);
  });

  it("sends any request, and reports the payment as JSON", async () => {
    const url = `${server.url}/search?q=a%20b`;
    const args = ["request", url, "-H", "X-Trace: 7", "-d", '{"q":1}', "--max", "1"];
    const answer = await payer.json<Answer>(args);
    expect(answer).to.deep.include({ status: 200, body: 'POST /search?q=a%20b {"q":1}' });
    expect(answer.headers["x-goods"]).to.equal("1");
    expect(answer.payment).to.include({ amount: "50000", decimal: "0.05", resource: url });
    const listed = await payer.json<{ id: string; resource: string; transaction: string; state: string }[]>([
      "payments",
      "--out",
    ]);
    expect(listed.find(({ id }) => id === answer.payment!.id)).to.include({
      resource: url,
      state: "settled",
      transaction: answer.payment!.transaction,
    });
  });

  it("pays for a HEAD, and shows the headers", async () => {
    const [before, sold] = [await spent(payer), server.sold()];
    const head = ["request", `${server.url}/article/head`, "-X", "HEAD", "--max", "0.05"];
    const { code, stdout, stderr } = await payer.run([...head, "-i"]);
    expect(stdout).to.match(/^HTTP 200 .*\n(?:[a-z-]+: .*\n)+\n$/);
    expect(stdout).to.match(/^x-goods: 1$/m);
    expect(stderr).to.match(/^paid 0\.05 \S+: 0x[0-9a-f]{64}\n$/);
    expect(code).to.equal(0);
    expect([await spent(payer), server.sold()]).to.deep.equal([before + 50_000n, sold + 1]);
    // The control: above the limit, the HEAD is refused as a GET is.
    expect(await payer.refused([...head.slice(0, -1), "0.04"], 3)).to.equal("REQUEST_LIMIT_EXCEEDED");
  });

  it("sends the bytes of a file or of standard input as they are", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0d, 0x0a, 0xc3]);
    const file = payer.path("bytes");
    writeFileSync(file, bytes);
    const received: Buffer[] = [];
    const { url, close } = await listen(async (request, response) => {
      const body: Buffer[] = [];
      for await (const chunk of request) body.push(chunk as Buffer);
      received.push(Buffer.concat(body));
      response.end();
    });
    try {
      for (const [data, input] of [[`@${file}`], ["@-", bytes], ["text"]] as const)
        expect((await payer.run(["request", url, "-d", data, "--max", "1"], input ? { input } : {})).code).to.equal(0);
    } finally {
      await close();
    }
    expect(received).to.deep.equal([bytes, bytes, Buffer.from("text")]);
  });

  it("pays nothing for a free resource, and writes to a file with mode 0600", async () => {
    const before = await spent(payer);
    const file = payer.path("body");
    const free = await payer.json<Answer>(["request", `${server.url}/health`, "--max", "1", "-o", file]);
    expect(free).to.deep.include({ status: 200, payment: null, file });
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).to.deep.equal(["GET /health", 0o600]);
    expect(await payer.refused(["request", `${server.url}/article/9`, "--max", "1", "-o", file], 2)).to.equal(
      "FILE_EXISTS",
    );
    expect(await spent(payer)).to.equal(before);
  });

  it("exits with 10 after printing an error response", async () => {
    const { code, stdout, stderr } = await payer.run(["request", `${server.url}/missing`, "--max", "1", "-i"]);
    expect(code).to.equal(10);
    expect(stdout).to.match(/^HTTP 404 .*\n(?:[a-z-]+: .*\n)+\nGET \/missing$/);
    expect(stderr).to.match(/HTTP_STATUS: the server answered with status 404/);
  });

  describe("is rejected without payment", () => {
    const refuses = async (args: string[], exit: number, code: string) => {
      const before = await spent(payer);
      expect(await payer.refused(args, exit)).to.equal(code);
      expect(await spent(payer)).to.equal(before);
    };

    it("above the limits", async () => {
      const url = `${server.url}/article/2`;
      await refuses(["pay", url, "--max", "0.049999"], 3, "REQUEST_LIMIT_EXCEEDED");
      await refuses(["pay", url, "--max", "1", "--max-day", "0.1"], 3, "DAY_LIMIT_EXCEEDED");
      await refuses(["pay", url, "--max", "1", "--max-host", "0.1"], 3, "HOST_LIMIT_EXCEEDED");
    });

    it("with an empty wallet, without consuming a limit or leaving an open purchase", async () => {
      const empty = await openCli(world, 0n);
      for (const n of [1, 2, 3]) {
        const args = ["pay", `${server.url}/article/${n}`, "--max", "1", "--max-day", "0.05"];
        const { code, stderr } = await empty.run(args);
        expect(code).to.equal(4);
        expect(stderr).to.equal(
          "sotto: INSUFFICIENT_FUNDS: 0.05 USDC are needed, but the wallet holds 0 USDC; deposit 0.05 USDC more; " +
            `\`sotto deposit AMOUNT --mint --home ${empty.home}\` deposits test tokens\n`,
        );
      }
      expect(await empty.json(["purchases"])).to.deep.equal([]);
      const { shieldedAddress } = await merchant.json<{ shieldedAddress: string }>(["address"]);
      for (const _ of [1, 2]) {
        const { code, stderr } = await empty.run(["send", "0.25", "--to", shieldedAddress, "--yes"]);
        expect(code).to.equal(4);
        expect(stderr).to.match(/^sotto: INSUFFICIENT_FUNDS: 0\.25 USDC are needed/);
      }
    });

    it("through a service other than the wallet's, and names that service", async () => {
      await payer.json(["init", "--update", "--service", world.service.url.replace("127.0.0.1", "localhost")]);
      try {
        const { code, stderr } = await payer.run(["pay", `${server.url}/article/2`, "--max", "1"]);
        expect(code).to.equal(3);
        expect(stderr).to.match(
          /^sotto: ENDPOINT_NOT_ALLOWED: the 402 names the service http:\/\/127\.0\.0\.1:\d+\/zk, but /,
        );
        expect(stderr).to.match(
          /but the wallet allows only http:\/\/localhost:\d+\/zk: 127\.0\.0\.1 and localhost are different addresses; use /,
        );
      } finally {
        await payer.json(["init", "--update", "--service", world.service.url]);
      }
    });

    it("above a limit, with a message in the unit that the user typed", async () => {
      const { stderr } = await payer.run(["pay", `${server.url}/article/2`, "--max", "0.02"]);
      expect(stderr).to.match(
        /^sotto: REQUEST_LIMIT_EXCEEDED: the price is 0\.05 USDC, but the limit per request is 0\.02 USDC; raise it with --max, and the wallet's with `sotto limits --max .*`\n$/,
      );
      const { stderr: day } = await payer.run(["pay", `${server.url}/article/2`, "--max", "1", "--max-day", "0.01"]);
      expect(day).to.include("the price is 0.05 USDC, but the limit is 0.01 USDC per day (UTC)");
    });

    it("above a limit of the wallet, even if the options allow more", async () => {
      await payer.json(["limits", "--max", "0.02"]);
      await refuses(["pay", `${server.url}/article/2`, "--max", "1"], 3, "REQUEST_LIMIT_EXCEEDED");
      await payer.json(["limits", "--none", "--max-host", "0.01"]);
      await refuses(["pay", `${server.url}/article/2`, "--max", "1"], 3, "HOST_LIMIT_EXCEEDED");
      expect(await payer.json(["limits", "--none"])).to.deep.equal({
        perRequest: null,
        perHost: null,
        perHour: null,
        perDay: null,
        hosts: {},
        tools: {},
        approveAbove: null,
      });
    });

    it("without a limit per request", async () => {
      await refuses(["pay", `${server.url}/article/2`], 3, "NOT_CONFIRMED");
      await refuses(["pay", `${server.url}/article/2`, "--yes"], 2, "USAGE");
    });

    it("if the user declines after seeing price and recipient", async () => {
      const before = await spent(payer);
      const { code, stdout, stderr } = await payer.run(["pay", `${server.url}/article/2`], { answer: "n" });
      expect([code, stdout]).to.deep.equal([3, ""]);
      expect(stderr).to.include(`pay 0.05 USDC to ${merchant.account} for ${server.url}/article/2? [y/N] `);
      expect(await spent(payer)).to.equal(before);
    });

    it("if the server is unreachable", async () => {
      await refuses(["pay", "http://127.0.0.1:9/x", "--max", "1"], 6, "HOST_UNREACHABLE");
    });

    it("for a key that the recipient's wallet did not sign, or for another resource", async () => {
      const asked = (await (await fetch(`${server.url}/article/3`)).json()) as {
        payment: { recipient: object };
        metadata: { resource: string };
      };
      const { shieldedAddress } = await payer.json<{ shieldedAddress: string }>(["address"]);
      const body = structuredClone(asked);
      let served: object = body;
      const thief = await listen((_, response) => {
        response.writeHead(402, { "www-authenticate": "x402-zk", "content-type": "application/json" });
        response.end(JSON.stringify(served));
      });
      try {
        const url = `${thief.url}/article/3`;
        await refuses(["pay", url, "--max", "1"], 3, "RESOURCE_MISMATCH");
        body.metadata.resource = url;
        body.payment.recipient = { ...body.payment.recipient, shieldedAddress };
        served = body;
        await refuses(["pay", url, "--max", "1"], 3, "RECIPIENT_NOT_SIGNED");
      } finally {
        await thief.close();
      }
    });
  });

  describe("after kill -9", () => {
    /** Runs a payment and kills it as soon as its output matches. */
    const killed = async (url: string, at: RegExp) => {
      const { ended } = payer.start(["pay", url, "--max", "1", "--verbose"], { stop: { at, signal: "SIGKILL" } });
      expect((await ended).code).to.equal(null);
    };

    for (const [stage, when] of [
      ["while proving", /proving/],
      ["while settling", /settling/],
      ["once paid", /confirming the payment|^paid/],
      ["while repeating the request", /repeating the request/],
    ] as const)
      it(`${stage}, the same command resumes and pays once`, async () => {
        const before = await spent(payer);
        const sold = server.sold();
        const url = `${server.url}/crash/${encodeURIComponent(stage)}`;
        if (stage === "while repeating the request") {
          // The server receives the proof, but the client never receives the response.
          server.onRequest = async (paying) => !paying;
        }
        await killed(url, when);
        server.onRequest = async () => true;
        const answer = await payer.json<Answer>(["pay", url, "--max", "1"]);
        expect(answer.status).to.equal(200);
        expect(await spent(payer)).to.equal(before + 50_000n);
        expect(server.sold()).to.equal(sold + 1);
        expect(await payer.json<unknown[]>(["purchases"])).to.deep.equal([]);
      });

    it("starts nothing before the confirmation, and pays once per key", async () => {
      const url = `${server.url}/key`;
      const args = ["pay", url, "--max", "1", "--key", "order 7"];
      await payer.json(args);
      const before = await spent(payer);
      expect(await payer.refused(args, 3)).to.equal("PURCHASE_FINISHED");
      expect(await payer.refused(["dismiss", "nothing"], 2)).to.equal("UNKNOWN_PURCHASE");
      expect(await spent(payer)).to.equal(before);
    });
  });

  describe("to an address", () => {
    it("takes a viewing key from the environment, and rejects one of another pool or address", async () => {
      const text = (await merchant.run(["view-key", "--lasting", "--out", "-"])).stdout;
      const { shieldedAddress } = await payer.json<{ shieldedAddress: string }>(["address"]);
      const { keys, ...fields } = JSON.parse(text) as { keys: object[] };
      for (const change of [
        { pool: `0x${"5b".repeat(20)}` },
        { chainId: "1" },
        { keys: [{ ...keys[0], shieldedAddress }] },
      ]) {
        const env = { SOTTO_VIEWING_KEY: JSON.stringify({ ...fields, keys, ...change }) };
        expect(await merchant.refused(["receive"], 9, { env })).to.equal("KEY_MISSING");
      }
      await merchant.json(["receive"], { env: { SOTTO_VIEWING_KEY: text } });
    });

    it("sends a payment that the recipient sees with its viewing key", async () => {
      const { shieldedAddress } = await merchant.json<{ shieldedAddress: string }>(["address"]);
      const key = merchant.path("viewing.json");
      await merchant.json(["view-key", "--lasting", "-o", key]);
      const watching: string[] = [];
      const watcher = merchant.start(["receive", "--watch", "--json", "--viewing-key", key], {
        env: { SOTTO_SEED: "" },
        watch: (text) => watching.push(text),
      });
      const before = await spent(payer);
      const sent = await payer.json<{ transaction: string; amount: string }>([
        ...["send", "0.25", "--to", shieldedAddress, "--yes"],
      ]);
      expect(await spent(payer)).to.equal(before + 250_000n);
      while (!watching.join("").includes(sent.transaction)) await sleep(50);
      watcher.child.kill("SIGINT");
      expect((await watcher.ended).code).to.equal(130);
      const lines = watching.join("").trim().split("\n");
      const line = lines.map((text) => JSON.parse(text) as { transaction: string; amount: string; origin: string });
      expect(line.find(({ transaction }) => transaction === sent.transaction)).to.include({
        amount: "250000",
        origin: "payment",
      });
      expect(await payer.refused(["send", "0.25", "--to", shieldedAddress], 3)).to.equal("NOT_CONFIRMED");
    });
  });
});
