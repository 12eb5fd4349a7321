// The tool `history` after requests of metered routes: charges beside payments, from the wallet's own store.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { buyPrepaid, mergePrepaid, prepaid } from "@sotto/prepaid/client";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { type MeteredServer, openMeteredServer, WORDS } from "@sotto/test-world/metered-server";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { payerWith } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { call, openAgent } from "./support/agent.ts";
import { openMcpWorld } from "./support/world.ts";

interface Amount {
  readonly amount: string;
}

interface Entry {
  readonly kind: string;
  readonly id: string;
  readonly amount?: Amount;
  readonly charge?: Amount;
  readonly resource: string;
  readonly time: string;
}

interface Page {
  readonly payments: readonly Entry[];
  readonly next_cursor: string | null;
}

const usdc = (amount: string, decimal: string) => ({ amount, decimal, token: "USDC" });

describe("history: charges of metered requests", function () {
  slow(this, "a chain, a service and proofs");
  let agent: Client;
  let metered: MeteredServer;
  let exact: ResourceServer;
  before(async () => {
    await clearOfMidnight();
    const world = await openMcpWorld();
    metered = await openMeteredServer(world);
    exact = await openResourceServer(world, "0.02");
    const owner = await payerWith(world, [2_000_000n, 2_000_000n]);
    const options = {
      services: [world.serviceUrl],
      maxPerRequest: WORDS.cap,
      methods: [prepaid({ maxPerHost: 2_000_000n, mirrors: [world.serviceUrl], buy: false })],
    };
    await buyPrepaid(fetch, owner, options, { origin: metered.url, value: WORDS.cap });
    // The pack counts too, and both servers are one host.
    agent = await openAgent(world, owner, { limits: { perHost: 2_000_000n } });
    for (const [url, outcome] of [
      [`${metered.url}/words/3`, "token"],
      [`${exact.url}/report`, "paid"],
      [`${metered.url}/words/99`, "token"],
    ]) {
      const { report, text } = await call(agent, "fetch_paid", { url });
      expect(report.outcome, text).to.equal(outcome);
    }
    // The server may still be storing a charge.
    await eventually(async () => (await mergePrepaid(fetch, owner, options)).open === 0);
  });
  after(async () => {
    await agent?.close();
    await exact?.close();
    await metered?.close();
  });

  async function history(args: Record<string, unknown> = {}) {
    const { result, text } = await call(agent, "history", args);
    return { ...(result.structuredContent as unknown as Page), text };
  }

  it("are sorted among the payments, each with its amount, merchant, request and time", async () => {
    const { payments, text } = await history();
    expect(payments.map(({ kind, resource }) => [kind, resource])).to.deep.equal([
      ["charge", `${metered.url}/words/99`],
      ["payment", `${exact.url}/report`],
      ["charge", `${metered.url}/words/3`],
      ["payment", payments[3]!.resource],
    ]);
    const [{ id, time, ...last }, , first, purchase] = payments as [Entry, Entry, Entry, Entry & { recipient: string }];
    expect(last).to.deep.equal({
      ...{ kind: "charge", charge: usdc("10000", "0.01"), recipient: purchase.recipient },
      resource: `${metered.url}/words/99`,
    });
    expect(first.charge).to.deep.equal(usdc("3000", "0.003"));
    expect(text.split("\n")[0]).to.equal(`${time} charge 0.01 USDC ${id} for ${metered.url}/words/99`);
    expect(time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it("count on the pages, and are no incoming payments", async () => {
    const { payments } = await history({ direction: "out" });
    const first = await history({ limit: 3 });
    expect(first.payments).to.deep.equal(payments.slice(0, 3));
    // A charge ends the page.
    expect(first.next_cursor).to.equal(payments[2]!.id);
    const rest = await history({ limit: 3, cursor: first.next_cursor });
    expect([rest.payments, rest.next_cursor]).to.deep.equal([payments.slice(3), null]);
    expect(rest.payments).to.have.length(1);
    expect(await history({ direction: "in" })).to.deep.include({ payments: [], text: "No payments." });
  });

  it("do not count twice: each sum is that of its field", async () => {
    const { payments } = await history();
    const sum = (field: "amount" | "charge") =>
      payments.reduce((total, entry) => total + BigInt(entry[field]?.amount ?? 0), 0n);
    expect(sum("amount")).to.equal((await metered.received()) + (await exact.received()));
    const { result } = await call(agent, "balance");
    const { prepaid: tokens } = result.structuredContent as unknown as { prepaid: readonly { charged: Amount }[] };
    expect([String(sum("charge"))]).to.deep.equal(tokens.map(({ charged }) => charged.amount));
    expect(sum("charge")).to.equal(13_000n);
  });
});
