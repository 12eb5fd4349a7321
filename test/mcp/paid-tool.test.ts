// Paid tools, with clients that pay for them.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { openPurchases } from "@sotto/client";
import { createPayingClient, type PayingClient } from "@sotto/mcp/client";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { SottoScheme } from "@sotto/x402/client";
import { expect } from "chai";
import { textOf } from "./support/agent.ts";
import { ORIGIN, openPaidTools, type PaidTools, PRICE } from "./support/tools.ts";

const FORECAST = { name: "forecast", arguments: { city: "Oslo" } };

interface Required {
  readonly x402Version: number;
  readonly error: string;
  readonly resource: { readonly url: string };
  readonly accepts: readonly [
    { readonly amount: string; readonly scheme: string; readonly extra: { resource: string } },
  ];
  readonly "x402/payment-response"?: { readonly success: boolean };
}
const requiredOf = ({ structuredContent }: CallToolResult) => structuredContent as unknown as Required;

import { openMcpWorld } from "./support/world.ts";

describe("a paid tool", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let tools: PaidTools;
  let client: Client;
  let wallet: Wallet;
  let paying: PayingClient;
  const call = async (params: Parameters<Client["callTool"]>[0]) => (await client.callTool(params)) as CallToolResult;
  let counted = 0n;
  const received = async () => {
    const now = await tools.received();
    const since = now - counted;
    counted = now;
    return since;
  };
  const options = () => ({
    wallet,
    server: ORIGIN,
    services: [world.serviceUrl],
    maxPerRequest: PRICE,
    retryDelayMs: 10,
  });
  before(async () => {
    world = await openMcpWorld();
    tools = await openPaidTools(world);
    client = await tools.connect();
    wallet = await payerWith(world, [100_000n, 100_000n, 100_000n, 100_000n]);
    paying = createPayingClient(client, options());
  });
  after(async () => {
    await client?.close();
    await tools?.close();
  });
  beforeEach(() => {
    tools.ran.length = 0;
    tools.behave = () => ({ content: [{ type: "text", text: "sunny" }] });
  });

  it("asks for a payment in x402's format, bound to server, tool and arguments", async () => {
    const result = await call(FORECAST);
    const required = requiredOf(result);
    expect(result.isError).to.equal(true);
    expect(required).to.include({ x402Version: 2, error: "Payment required" });
    expect(required.resource.url).to.equal("mcp://tool/forecast");
    expect(required.accepts[0]).to.include({ scheme: "sotto", amount: String(PRICE) });
    expect(required.accepts[0].extra.resource).to.match(
      /^http:\/\/tools\.example\/mcp\/tool\/forecast\?arguments=[0-9a-f]{64}$/,
    );
    const { "x402/error": error } = JSON.parse(textOf(result));
    expect(error).to.deep.include({ code: 402, message: "Payment required", data: required });
    const same = requiredOf(await call({ name: "forecast", arguments: { days: 1, city: "Oslo" } }));
    const other = requiredOf(await call({ name: "forecast", arguments: { city: "Rome" } }));
    expect(same.accepts[0].extra.resource).to.equal(required.accepts[0].extra.resource);
    expect(other.accepts[0].extra.resource).to.not.equal(required.accepts[0].extra.resource);
    expect(tools.ran).to.deep.equal([]);
  });

  it("asks for no payment if an argument has a wrong name, and names the right one", async () => {
    const args = FORECAST.arguments;
    const wrong = await paying.callTool({ name: "forecast", arguments: { ...args, Days: 2 } });
    expect(wrong.isError).to.equal(true);
    expect(textOf(wrong)).to.include('unknown argument "Days"; write "days"');
    expect(await received()).to.equal(0n);
    for (const { name, inputSchema } of (await client.listTools()).tools)
      expect(inputSchema, name).to.include({ additionalProperties: false });
    // Null counts as absent: the same call, so the same resource.
    const absent = requiredOf(await call(FORECAST));
    const isNull = requiredOf(await call({ name: "forecast", arguments: { ...args, days: null } }));
    expect(isNull.accepts[0].extra.resource).to.equal(absent.accepts[0].extra.resource);
    expect(tools.ran).to.deep.equal([]);
  });

  it("is paid by the paying client, runs once, and names the payment's transaction", async () => {
    const result = await paying.callTool(FORECAST);
    expect(textOf(result)).to.equal("sunny");
    expect(result._meta?.["x402/payment-response"]).to.have.property("success", true);
    expect(tools.ran).to.deep.equal(["Oslo 1"]);
    expect(await received()).to.equal(PRICE);
    expect(await openPurchases(wallet)).to.deep.equal([]);
  });

  it("is paid by a client of the published scheme, and settles that client's payment", async () => {
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl] });
    const required = requiredOf(await call(FORECAST));
    const [accepted] = required.accepts;
    const { payload } = await scheme.createPaymentPayload(2, accepted as never);
    const _meta = { "x402/payment": { x402Version: 2, resource: required.resource, accepted, payload } };
    const result = await call({ ...FORECAST, _meta });
    expect(textOf(result)).to.equal("sunny");
    expect(result._meta?.["x402/payment-response"]).to.include({ success: true, network: "eip155:31337" });
    expect(await received()).to.equal(PRICE);

    const replayed = await call({ ...FORECAST, _meta });
    expect(replayed.isError).to.equal(true);
    expect(requiredOf(replayed)["x402/payment-response"]).to.include({ success: false, transaction: "" });
    for (const other of [
      { ...FORECAST, arguments: { city: "Rome" }, _meta },
      { name: "archive", arguments: { city: "Oslo" }, _meta },
    ])
      expect(requiredOf(await call(other)).error).to.equal("The payment is not for this call");
    expect(tools.ran).to.have.length(1);
    expect(await received()).to.equal(0n);
  });

  it("asks the service to settle only payments whose proofs the paywall accepts", async () => {
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl] });
    const PARIS = { name: "forecast", arguments: { city: "Paris" } };
    const [accepted] = requiredOf(await call(PARIS)).accepts;
    const { payload } = await scheme.createPaymentPayload(2, accepted as never);
    const bundle = payload as { readonly proof: readonly string[]; readonly publicSignals: readonly string[] };
    const forged = [
      { ...bundle, proof: bundle.proof.with(0, "1") },
      { ...bundle, publicSignals: bundle.publicSignals.with(5, "1") },
    ];
    const send = globalThis.fetch;
    const asked: string[] = [];
    globalThis.fetch = (input, init) => {
      asked.push(String(input));
      return send(input, init);
    };
    try {
      for (const other of forged) {
        const result = await call({
          ...PARIS,
          _meta: { "x402/payment": { x402Version: 2, accepted, payload: other } },
        });
        expect(requiredOf(result).error).to.equal("The payment is not for this call");
      }
      expect(asked).to.deep.equal([]);
      expect(
        textOf(await call({ ...PARIS, _meta: { "x402/payment": { x402Version: 2, accepted, payload } } })),
      ).to.equal("sunny");
      expect(asked.some((url) => url.endsWith("/settle"))).to.equal(true);
    } finally {
      globalThis.fetch = send;
    }
    expect(await received()).to.equal(PRICE);
  });

  it("settles no payment once its paywall is closed, and tells the operator", async () => {
    const events: object[] = [];
    const closed = await openPaidTools(world, { onEvent: ({ event, reason }) => void events.push({ event, reason }) });
    const caller = await closed.connect();
    const asked = (await caller.callTool(FORECAST)) as CallToolResult;
    const [accepted] = requiredOf(asked).accepts;
    // Tools have no URL that answers the schedule of their addresses: it comes with the terms.
    const fetch = async () => Response.json(asked["_meta"]?.["sotto/schedule"]);
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl], fetch });
    const { payload } = await scheme.createPaymentPayload(2, accepted as never);
    await closed.close();
    events.length = 0;
    const _meta = { "x402/payment": { x402Version: 2, accepted, payload } };
    const result = (await caller.callTool({ ...FORECAST, _meta })) as CallToolResult;
    expect([result.isError, textOf(result)]).to.deep.equal([
      true,
      "This tool cannot take payments at the moment; try again later.",
    ]);
    expect([events, closed.ran, await closed.received()]).to.deep.equal([
      [{ event: "unavailable", reason: "PAYWALL_CLOSED" }],
      [],
      0n,
    ]);
    await caller.close();
  });

  it("runs once for five concurrent calls with the same payment", async () => {
    const BERGEN = { name: "forecast", arguments: { city: "Bergen" } };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    tools.behave = async () => {
      await held;
      return { content: [{ type: "text", text: "sunny" }] };
    };
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl] });
    const [accepted] = requiredOf(await call(BERGEN)).accepts;
    const { payload } = await scheme.createPaymentPayload(2, accepted as never);
    const _meta = { "x402/payment": { x402Version: 2, accepted, payload } };
    const calls = [1, 2, 3, 4, 5].map(() => call({ ...BERGEN, _meta }));
    const first = await Promise.race(calls);
    expect(first.isError).to.equal(true);
    release();
    const results = await Promise.all(calls);
    expect(results.filter(({ isError }) => isError !== true)).to.have.length(1);
    expect(tools.ran).to.have.length(1);
    expect(await received()).to.equal(PRICE);
  });

  it("keeps the payment for the next attempt if the handler fails", async () => {
    tools.behave = (ran) => {
      if (ran === 1) throw new Error("no weather");
      if (ran === 2) return { isError: true, content: [{ type: "text", text: "no weather" }] };
      return { content: [{ type: "text", text: "rain" }] };
    };
    expect(textOf(await paying.callTool(FORECAST))).to.equal("rain");
    expect(tools.ran).to.have.length(3);
    expect(await received()).to.equal(PRICE);
  });

  it("may be free for some arguments, and keeps the output schema of its results", async () => {
    const free = await paying.callTool({ name: "counted", arguments: { words: 0 } });
    expect(free.structuredContent).to.deep.equal({ count: 0, paid: false });
    const paid = await paying.callTool({ name: "counted", arguments: { words: 3 } });
    expect(paid.structuredContent).to.deep.equal({ count: 3, paid: true });
    expect(await received()).to.equal(3_000n);
  });

  it("is not paid above the client's limits, at another server, or without consent", async () => {
    const errors: readonly [Partial<Parameters<typeof createPayingClient>[1]>, string][] = [
      [{ maxPerRequest: PRICE - 1n }, "REQUEST_LIMIT_EXCEEDED"],
      [{ maxPerHost: PRICE }, "HOST_LIMIT_EXCEEDED"],
      [{ server: "http://other.example" }, "TOOL_CHALLENGE_INVALID"],
      [{ services: ["http://127.0.0.1:9/zk"] }, "ENDPOINT_NOT_ALLOWED"],
      [{ confirmPayment: () => false }, "PAYMENT_DECLINED"],
    ];
    for (const [changed, code] of errors) {
      const refusing = createPayingClient(client, { ...options(), ...changed });
      expect((await rejection(refusing.callTool(FORECAST))) as unknown, code).to.have.property("code", code);
    }
    expect(await received()).to.equal(0n);
    expect(await openPurchases(wallet)).to.deep.equal([]);
  });

  it("is paid once even if its answer is lost; the next equal call gets the answer", async () => {
    let lost = false;
    const losing = await tools.connect((transport) => {
      const send = transport.send.bind(transport);
      transport.send = async (message, more) => {
        const meta = "params" in message ? message.params?.["_meta"] : undefined;
        if (lost && meta !== undefined && "x402/payment" in (meta as object)) throw new Error("the connection is gone");
        return send(message, more);
      };
      return transport;
    });
    const unlucky = createPayingClient(losing, options());
    lost = true;
    await anyRejection(unlucky.callTool(FORECAST));
    expect((await openPurchases(wallet)).map(({ state }) => state)).to.deep.equal(["paid"]);
    expect(await received()).to.equal(PRICE);
    expect(textOf(await paying.callTool(FORECAST))).to.equal("sunny");
    expect(await openPurchases(wallet)).to.deep.equal([]);
    expect(await received()).to.equal(0n);
    await losing.close();
  });
});
