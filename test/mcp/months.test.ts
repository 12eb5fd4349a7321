// Paid tools whose server is paid at an address of each month, in both formats.
import { signAddresses } from "@sotto/client";
import { createPayingClient } from "@sotto/mcp/client";
import { monthAt, SCHEDULE_PATH, scheduleDigest, scheduleJson } from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { textOf } from "./support/agent.ts";
import { ORIGIN, openPaidTools, type PaidTools, PRICE } from "./support/tools.ts";
import { openMcpWorld } from "./support/world.ts";

describe("paid tools of a server with addresses of months", function () {
  slow(this, "a chain, a service and proofs");
  const account = Account.createRandom();
  let world: World;
  let owner: Wallet;
  const opened: PaidTools[] = [];
  before(async () => {
    world = await openMcpWorld();
    owner = await openWallet(world);
  });
  after(async () => {
    for (const tools of opened) await tools.close();
  });

  /** Calls a tool of a server that is paid at these addresses. */
  async function call(payer: Wallet, changes: Parameters<typeof openPaidTools>[1], city: string) {
    const tools = await openPaidTools(world, changes);
    opened.push(tools);
    const client = await tools.connect();
    const services = [world.serviceUrl];
    const paying = createPayingClient(client, { wallet: payer, server: ORIGIN, services, maxPerRequest: PRICE });
    try {
      return textOf(await paying.callTool({ name: "forecast", arguments: { city } }));
    } finally {
      await client.close();
    }
  }

  for (const [format, changes] of [
    ["x402's format", {}],
    ["MPP's format", { mpp: { secret: "0123456789abcdef0123456789abcdef" } }],
  ] as const)
    it(`are paid at the address of the month in ${format}, and follow the newest schedule`, async () => {
      const payer = await payerWith(world, [2n * PRICE, 2n * PRICE]);
      const sign = (sequence: number) => signAddresses(owner, account, { months: 2, sequence });
      const [old, young] = [await sign(1), await sign(2)];
      expect(await call(payer, { recipient: { addresses: young }, ...changes }, "Oslo")).to.equal("sunny");
      const [entry] = await payer.payments({ decimals: 6 });
      expect(entry!.recipientAddress).to.equal(owner.addressOfMonth(monthAt(Date.now())));
      await expectRejected("SCHEDULE_LOWER", () => call(payer, { recipient: { addresses: old }, ...changes }, "Rome"));
      expect(await payer.payments({ decimals: 6 })).to.have.length(1);
    });

  it("send their schedule with the terms, because a server over stdio has no path to publish it", async () => {
    const addresses = await signAddresses(owner, account);
    const tools = await openPaidTools(world, { recipient: { addresses } });
    opened.push(tools);
    const client = await tools.connect();
    const answer = await client.callTool({ name: "forecast", arguments: { city: "Oslo" } });
    expect(answer["structuredContent"]).to.have.deep.nested.property("accepts[0].extra.schedule", {
      path: SCHEDULE_PATH,
      digest: scheduleDigest(addresses.schedule),
    });
    expect(answer["_meta"]).to.deep.equal({ "sotto/schedule": scheduleJson(addresses) });
    await client.close();
  });
});
