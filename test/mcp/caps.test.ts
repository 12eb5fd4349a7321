// Limits per hour, host and tool: enforced by every tool that spends, and shared by the programs of one wallet.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { openPurchases } from "@sotto/client";
import type { AgentOptions } from "@sotto/mcp";
import { clearOfMidnight, clockWithin } from "@sotto/test-kit/clock";
import { anyRejection, expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { openWallet, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { call, openAgent } from "./support/agent.ts";
import { TestHome } from "./support/home.ts";
import { linkPhone, openMcpWorld } from "./support/world.ts";

const PRICE = 10_000n;
const HOUR_MS = 3_600_000;
const PHONE = "+14155550177";

describe("limits of agents", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: SmallServer;
  let otherPort: SmallServer;
  const clock = clockWithin(HOUR_MS);
  before(async () => {
    await clearOfMidnight();
    world = await openMcpWorld();
    const owner = await openWallet(world);
    server = await SmallServer.open(world, owner, { price: PRICE });
    otherPort = await SmallServer.open(world, owner, { price: PRICE });
    await linkPhone(world, await openWallet(world), PHONE);
  });
  after(async () => {
    await server?.close();
    await otherPort?.close();
  });

  describe("in one program", () => {
    let wallet: Wallet;
    before(async () => {
      wallet = await payerWith(
        world,
        Array.from({ length: 6 }, () => 50_000n),
        { clock },
      );
    });
    const open = (limits: AgentOptions["limits"]) =>
      openAgent(world, wallet, { limits, registry: `${world.serviceUrl}` });
    const fetchPaid = (agent: Client, page: string, from = server) =>
      call(agent, "fetch_paid", { url: `${from.url}/${page}` });
    const payPhone = (agent: Client, key: string) =>
      call(agent, "pay_phone", { phone: PHONE, amount: String(PRICE), idempotency_key: key });

    it("count what each tool spends, and together what all spend in an hour", async () => {
      const agent = await open({ perHour: 2n * PRICE, tools: { fetch_paid: PRICE, pay_phone: PRICE } });
      const first = await fetchPaid(agent, "first");
      expect(first.report.outcome, first.text).to.equal("paid");
      expect(first.report.limits).to.deep.include({
        left_this_hour: { amount: "10000", decimal: "0.01", token: "USDC" },
        left_for_tool: { amount: "0", decimal: "0", token: "USDC" },
      });
      const again = await fetchPaid(agent, "again");
      expect(again.report.error?.code).to.equal("TOOL_LIMIT_EXCEEDED");
      expect(again.report.error?.message).to.match(
        /^the price is 0\.01 USDC, but 0\.01 USDC of the 0\.01 USDC allowed per day \(UTC\) for the tool fetch_paid are spent or reserved; 0 USDC are left until \d{4}-\d\d-\d\dT00:00:00Z; only the wallet's owner can raise the limit, with `sotto limits --max-tool fetch_paid=AMOUNT`$/,
      );
      const paid = await payPhone(agent, "one");
      expect(paid.report.outcome, paid.text).to.equal("paid");
      expect((await payPhone(agent, "two")).report.error?.code).to.equal("TOOL_LIMIT_EXCEEDED");
      const hour = await open({ perHour: 2n * PRICE });
      for (const { report } of [await fetchPaid(hour, "third"), await payPhone(hour, "third")]) {
        expect(report.error?.code).to.equal("HOUR_LIMIT_EXCEEDED");
        expect(report.error?.message).to.match(/0 USDC are left until .*:00:00Z; .*`sotto limits --max-hour AMOUNT`$/);
      }
      const { report } = await call(agent, "balance");
      expect(report).to.deep.include({
        tools: ["fetch_paid", "pay_phone"].map((name) => ({
          name,
          limit: { amount: "10000", decimal: "0.01", token: "USDC" },
          left: { amount: "0", decimal: "0", token: "USDC" },
        })),
      });
      expect(report.limits.left_this_hour?.amount).to.equal("0");
      await agent.close();
      await hour.close();
    });

    it("of one host count every port of it, and phone numbers as a host", async () => {
      // One payment each was made above.
      const agent = await open({ hosts: { "127.0.0.1": 2n * PRICE, phone: PRICE } });
      expect((await fetchPaid(agent, "port", otherPort)).report.outcome).to.equal("paid");
      for (const from of [server, otherPort]) {
        const { report } = await fetchPaid(agent, "more", from);
        expect(report.error?.code).to.equal("HOST_LIMIT_EXCEEDED");
        expect(report.error?.message).to.include("`sotto limits --max-host 127.0.0.1=AMOUNT`");
        const quoted = await call(agent, "fetch_paid", { url: `${from.url}/quoted`, quote_only: true });
        expect(quoted.report.quote?.refused).to.include("allowed per day (UTC) for 127.0.0.1");
      }
      expect((await payPhone(agent, "host")).report.error?.code).to.equal("HOST_LIMIT_EXCEEDED");
      const { contents } = await agent.readResource({ uri: "sotto://policy" });
      expect(JSON.parse(String((contents[0] as { text: string }).text)).hosts).to.deep.equal(
        ["127.0.0.1", "phone"].map((name) => ({
          name,
          limit: {
            amount: name === "phone" ? "10000" : "20000",
            decimal: name === "phone" ? "0.01" : "0.02",
            token: "USDC",
          },
          left: { amount: "0", decimal: "0", token: "USDC" },
        })),
      );
      await agent.close();
    });

    it("are refused by the server if they name an unknown tool or a host with a port", async () => {
      for (const [limits, code] of [
        [{ tools: { balance: 1n } }, "MCP_OPTION_INVALID"],
        [{ hosts: { "a.example:80": 1n } }, "PURCHASE_INVALID"],
        [{ perHour: -1n }, "INVALID_AMOUNT"],
      ] as const)
        await expectRejected(code, () => open(limits as AgentOptions["limits"]));
    });
  });

  describe("in several programs", () => {
    let home: TestHome;
    before(async () => {
      home = await TestHome.create(
        world,
        Array.from({ length: 6 }, () => 50_000n),
      );
    });
    const left = async (client: Client) =>
      (await call(client, "balance")).result.structuredContent?.["tools"] as { left: { amount: string } }[];

    it("let exactly one of two calls pass at the cap", async () => {
      await home.sotto("limits", "--max-tool", "fetch_paid=0.01");
      const programs = [await home.start(), await home.start()];
      const before = server.sales.length;
      const results = await Promise.all(
        programs.map(({ client }, i) => call(client, "fetch_paid", { url: `${server.url}/race/${i}` })),
      );
      expect(results.map(({ report }) => report.error?.code ?? report.outcome).sort()).to.deep.equal([
        "TOOL_LIMIT_EXCEEDED",
        "paid",
      ]);
      expect(server.sales.length - before).to.equal(1);
      for (const { client } of programs) {
        expect((await left(client))[0]?.left.amount).to.equal("0");
        await client.close();
      }
    });

    it("keep a reservation over kill -9 until its payment is made or dismissed", async () => {
      await home.sotto("limits", "--max-tool", "fetch_paid=0.02");
      const before = server.sales.length;
      for (const end of ["paid", "dismissed"]) {
        const dying = await home.start();
        const url = `${server.url}/killed/${end}`;
        const onprogress = ({ message }: { message?: string | undefined }) => {
          // The price is reserved and no proof has left the process.
          if (message === "proving") process.kill(dying.transport.pid!, "SIGKILL");
        };
        await anyRejection(
          dying.client.callTool({ name: "fetch_paid", arguments: { url } }, undefined, { onprogress }),
        );
        const { client } = await home.start();
        expect((await left(client))[0]?.left.amount).to.equal("0");
        const { report } = await call(client, "fetch_paid", { url: `${server.url}/other` });
        expect(report.error?.code).to.equal("TOOL_LIMIT_EXCEEDED");
        if (end === "paid") {
          const resumed = await call(client, "fetch_paid", { url });
          expect(resumed.report.outcome, resumed.text).to.equal("paid");
          await home.sotto("limits", "--max-tool", "fetch_paid=0.03");
        }
        await client.close();
      }
      const wallet = await home.open();
      const [open, ...more] = await openPurchases(wallet);
      await wallet.close();
      expect(more).to.deep.equal([]);
      await home.sotto("dismiss", open!.id);
      const { client } = await home.start();
      expect((await left(client))[0]?.left.amount).to.equal("10000");
      const { report, text } = await call(client, "fetch_paid", { url: `${server.url}/other` });
      expect(report.outcome, text).to.equal("paid");
      expect((await left(client))[0]?.left.amount).to.equal("0");
      await client.close();
      expect(server.sales.length - before).to.equal(2);
    });
  });
});
