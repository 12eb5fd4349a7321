// Paid tools that ask in MPP's format, with sotto's paying client and with the published mppx.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { McpError } from "@modelcontextprotocol/sdk/types.js";
import { openPurchases, purchase } from "@sotto/client";
import { createPayingClient } from "@sotto/mcp/client";
import { challengesFromMcp, credentialToMcp, type MppChallenge, parseCharge } from "@sotto/mpp";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Credential, Method, z } from "mppx";
import { McpClient } from "mppx/mcp/client";
import { textOf } from "./support/agent.ts";
import { ORIGIN, openPaidTools, type PaidTools, PRICE } from "./support/tools.ts";
import { openMcpWorld } from "./support/world.ts";

const OSLO = { name: "forecast", arguments: { city: "Oslo" } };
const RECEIPT = "org.paymentauth/receipt";

/** The data of the error. */
interface Demand {
  readonly httpStatus: number;
  readonly problem: { readonly type: string };
  readonly challenges: readonly [{ readonly request: object }];
}

describe("a paid tool that asks in MPP's format", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let tools: PaidTools;
  let client: Client;
  let wallet: Wallet;
  before(async () => {
    world = await openMcpWorld();
    tools = await openPaidTools(world, { mpp: { secret: "a-secret-of-thirty-two-characters" } });
    client = await tools.connect();
    wallet = await payerWith(world, [100_000n, 100_000n, 100_000n, 100_000n]);
  });
  after(async () => {
    await client?.close();
    await tools?.close();
  });
  beforeEach(() => {
    tools.ran.length = 0;
  });

  const paying = (on = client, server = ORIGIN) =>
    createPayingClient(on, {
      wallet,
      server,
      services: [world.serviceUrl],
      maxPerRequest: PRICE,
      retryDelayMs: 10,
    });
  const errorOf = async (call: Parameters<Client["callTool"]>[0], on = client) =>
    (await anyRejection(on.callTool(call))) as McpError & { readonly data: Demand };

  /** Pays a challenge, and returns the payload of its credential. */
  async function pay({ request }: MppChallenge, key: string): Promise<Record<string, unknown>> {
    const { amount: price, binding, resource } = parseCharge(request);
    const recipient = { wallet: binding.wallet, shieldedAddress: binding.key };
    const order = { recipient, price, resourceUrl: resource!, key };
    const paid = await purchase(wallet, world.service, order);
    await paid.delivered();
    return JSON.parse(paid.header) as Record<string, unknown>;
  }

  it("answers an unpaid call with the error -32042 and a challenge", async () => {
    const { code, data } = await errorOf(OSLO);
    expect(code).to.equal(-32_042);
    expect(data.httpStatus).to.equal(402);
    expect(data.problem.type).to.equal("https://paymentauth.org/problems/payment-required");
    const [challenge] = challengesFromMcp(data) as [MppChallenge];
    expect(data.challenges[0].request).to.include({ amount: String(PRICE) });
    expect(parseCharge(challenge.request).resource).to.match(
      /^http:\/\/tools\.example\/mcp\/tool\/forecast\?arguments=/,
    );
    expect(tools.ran).to.deep.equal([]);
  });

  it("is paid by the paying client, runs once, and returns a receipt of that transaction", async () => {
    const before = await tools.received();
    const result = await paying().callTool(OSLO);
    expect(textOf(result)).to.equal("sunny");
    const settled = result._meta?.["x402/payment-response"] as { transaction: string };
    expect(result._meta?.[RECEIPT]).to.include({ method: "sotto", status: "success", reference: settled.transaction });
    expect(tools.ran).to.deep.equal(["Oslo 1"]);
    expect((await tools.received()) - before).to.equal(PRICE);
    expect(await openPurchases(wallet)).to.deep.equal([]);
  });

  it("is paid by the published client of mppx with the method sotto", async () => {
    const json = z.record(z.string(), z.unknown());
    const charge = Method.from({
      name: "sotto",
      intent: "charge",
      schema: { credential: { payload: json }, request: json },
    });
    const method = Method.toClient(charge, {
      createCredential: async ({ challenge }) => {
        const [own] = challengesFromMcp({ challenges: [challenge] }) as [MppChallenge];
        return Credential.serialize(Credential.from({ challenge, payload: await pay(own, challenge.id) }));
      },
    });
    const other = await tools.connect();
    const wrapped = McpClient.wrap(other, { methods: [method] });
    const result = await wrapped.callTool({ name: "forecast", arguments: { city: "Bergen" } });
    expect(tools.ran).to.deep.equal(["Bergen 1"]);
    expect(result.receipt).to.include({ method: "sotto", status: "success" });
    await other.close();
  });

  it("refuses a credential that is used, altered, malformed or for another call", async () => {
    const ROME = { name: "forecast", arguments: { city: "Rome" } };
    const [challenge] = challengesFromMcp((await errorOf(ROME)).data) as [MppChallenge];
    const payload = await pay(challenge, "rome");
    const meta = (changes: Partial<MppChallenge> = {}) => ({
      _meta: { "org.paymentauth/credential": credentialToMcp({ challenge: { ...challenge, ...changes }, payload }) },
    });
    const refused: [object, string][] = [
      [{ ...OSLO, ...meta() }, "invalid-challenge"],
      [{ name: "archive", arguments: { city: "Rome" }, ...meta() }, "invalid-challenge"],
      [{ ...ROME, ...meta({ expires: "2999-01-01T00:00:00Z" }) }, "invalid-challenge"],
      [{ ...ROME, ...meta({ realm: "other" }) }, "invalid-challenge"],
      [{ ...ROME, _meta: { "org.paymentauth/credential": "Payment e30" } }, "malformed-credential"],
      [{ ...ROME, _meta: { "org.paymentauth/credential": { challenge: {}, payload: {} } } }, "malformed-credential"],
    ];
    for (const [call, name] of refused) {
      const { code, data } = await errorOf(call as typeof ROME);
      expect([code, data.problem.type]).to.deep.equal([-32_042, `https://paymentauth.org/problems/${name}`]);
    }
    expect(tools.ran).to.deep.equal([]);
    expect(textOf((await client.callTool({ ...ROME, ...meta() })) as never), "the control").to.equal("sunny");
    const { data } = await errorOf({ ...ROME, ...meta() });
    expect(data.problem.type).to.equal("https://paymentauth.org/problems/verification-failed");
    expect(tools.ran).to.deep.equal(["Rome 1"]);
  });

  it("gets the proof also if its challenges name a header, which MCP does not have", async () => {
    // Another server: its challenges have a header, and it gets the credential without.
    const call = async (request: Parameters<Client["callTool"]>[0]) => {
      const { challenge } = Object(request._meta?.["org.paymentauth/credential"]) as {
        challenge?: { header?: string };
      };
      delete challenge?.header;
      return client.callTool(request).catch((error: McpError) => {
        for (const one of (error.data as { challenges: object[] }).challenges)
          Object.assign(one, { header: "Payment-Authorization" });
        throw error;
      });
    };
    const before = await tools.received();
    const result = await paying({ callTool: call } as unknown as Client).callTool({
      name: "forecast",
      arguments: { city: "Turin" },
    });
    expect(textOf(result)).to.equal("sunny");
    expect(tools.ran).to.deep.equal(["Turin 1"]);
    expect((await tools.received()) - before).to.equal(PRICE);
  });

  it("is not paid if it names another server than the payer expects", async () => {
    const before = wallet.balance().total;
    const error = await rejection(paying(client, "http://other.example").callTool(OSLO));
    expect(error.code).to.equal("TOOL_CHALLENGE_INVALID");
    await wallet.scan();
    expect(wallet.balance().total).to.equal(before);
  });
});
