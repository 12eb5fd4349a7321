// Tools with metered prices, over HTTP: a token and its rule travel in a call, and the change comes from the origin.
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { createPayingClient, type PayingClient } from "@sotto/mcp/client";
import { paidTool } from "@sotto/mcp/paid-tool";
import { decodeMeteredOffer, parseReceipt, verifyReceipt } from "@sotto/prepaid";
import {
  buyPrepaid,
  type ChargeEvent,
  checkCharges,
  keptReceipts,
  keptTerms,
  listPrepaid,
  type PrepaidOptions,
  prepaid,
} from "@sotto/prepaid/client";
import { meteredBy } from "@sotto/prepaid/server";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually } from "@sotto/test-kit/eventually";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { WORDS } from "@sotto/test-world/metered-server";
import { payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { textOf } from "./support/agent.ts";
import { type MeteredTools, openMeteredTools, said } from "./support/metered-tools.ts";
import { openMcpWorld } from "./support/world.ts";

const PAYMENT = "sotto/payment";
const CHARGE = "sotto/payment-response";

type Params = Parameters<PayingClient["callTool"]>[0];

describe("a tool with a metered price", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let tools: MeteredTools;
  let client: Client;
  let wallet: Wallet;
  /** Charges that the wallet has checked, and whose change it has. */
  const charges: ChargeEvent[] = [];
  /** What the paying client sent, call by call. */
  const sent: Params[] = [];
  before(async () => {
    // The month must not change between the keys and the calls.
    await clearOfMidnight();
    world = await openMcpWorld();
    tools = await openMeteredTools(world);
    client = await tools.connect();
    wallet = await payerWith(world, [2_000_000n, 2_000_000n]);
    await buyPrepaid(fetch, wallet, terms(), { origin: tools.origin, value: WORDS.cap });
  });
  after(async () => {
    await client?.close();
    await tools?.close();
  });
  beforeEach(() => {
    charges.length = 0;
    sent.length = 0;
    tools.ran.length = 0;
    tools.behave = () => said("written");
  });

  const call = async (params: Params) => (await client.callTool(params)) as CallToolResult;
  const writing = (words: number, name = "write"): Params => ({ name, arguments: { words } });
  const terms = (changes: Partial<PrepaidOptions> = {}) => ({
    services: [world.serviceUrl],
    maxPerRequest: WORDS.cap,
    retryDelayMs: 10,
    methods: [
      prepaid({
        ...{ maxPerHost: 2_000_000n, mirrors: [world.serviceUrl], maxDelayMs: 1_000, buyAfter: 1_000 },
        onCharge: (charge) => void charges.push(charge),
        ...changes,
      }),
    ],
  });
  /** @param through sends a call of the paying client, or another one in its place */
  const payer = (through: (params: Params) => Params = (params) => params, changes: Partial<PrepaidOptions> = {}) => {
    const spy = {
      callTool: (params: Params, ...rest: unknown[]) => {
        sent.push(params);
        return (client.callTool as (...all: unknown[]) => unknown)(through(params), ...rest);
      },
    } as unknown as Client;
    return createPayingClient(spy, { wallet, server: tools.origin, ...terms(changes) });
  };
  const charged = async (count: number): Promise<readonly bigint[]> => {
    await eventually(async () => charges.length >= count);
    return charges.map(({ charge }) => charge);
  };
  const unspent = async () => (await listPrepaid(wallet)).find(({ origin }) => origin === tools.origin)?.unspent ?? 0n;
  const redeemed = () => tools.events.filter(({ event }) => event === "redeemed").length;
  const errorOf = (result: CallToolResult) => {
    expect(result.isError, textOf(result)).to.equal(true);
    const required = JSON.parse(textOf(result)) as { "x402/error": { code: number; message: string } };
    expect(required["x402/error"].code).to.equal(402);
    return required["x402/error"].message;
  };
  /** The last call that had a token. */
  const shown = () => sent.findLast(({ _meta }) => _meta?.[PAYMENT] !== undefined)!;

  it("offers a token for the cap, the same for every payer, and asks for a private payment of it", async () => {
    const [one, other] = [await call(writing(1)), await call(writing(2))];
    expect(errorOf(one)).to.equal("Payment required");
    const offers = one._meta?.["sotto/offers"] as { readonly metered: unknown };
    expect(Object.keys(offers)).to.deep.equal(["metered"]);
    expect(decodeMeteredOffer(offers.metered).cap).to.equal(WORDS.cap);
    expect(other._meta).to.deep.equal(one._meta);
    const { accepts } = one.structuredContent as { readonly accepts: readonly { readonly amount: string }[] };
    expect(accepts[0]!.amount).to.equal(String(WORDS.cap));
  });

  it("charges what was counted, and gives change with a receipt that names tool and arguments", async () => {
    const before = [await tools.received(), await unspent()] as const;
    const paying = payer();
    const result = await paying.callTool(writing(3));
    expect(textOf(result)).to.equal("written");
    expect(result._meta).to.deep.equal({ [CHARGE]: { "x-payment-charge": "3000" } });
    expect(await charged(1)).to.deep.equal([3_000n]);
    // The call ends at the cap; one that fails costs nothing, unless the handler keeps the charge.
    await paying.callTool(writing(99));
    await charged(2);
    tools.behave = () => ({ ...said("no"), isError: true });
    expect((await paying.callTool(writing(5)))._meta).to.deep.equal({ [CHARGE]: { "x-payment-charge": "0" } });
    await charged(3);
    tools.behave = () => {
      throw new Error("broken");
    };
    expect(textOf(await paying.callTool(writing(6)))).to.equal("broken");
    await charged(4);
    tools.behave = (meter) => {
      meter.keep();
      return { ...said("no"), isError: true };
    };
    await paying.callTool(writing(7));
    expect(await charged(5)).to.deep.equal([3_000n, 10_000n, 0n, 0n, 7_000n]);
    const [received, held] = [(await tools.received()) - before[0], (await unspent()) - before[1]];
    // The tokens were bought before.
    expect([received, held]).to.deep.equal([0n, -20_000n]);
    expect(charges[0]!.target).to.match(/^\/mcp\/tool\/write\?arguments=[0-9a-f]{64}$/);
    expect(charges[0]).to.deep.include({ origin: tools.origin, method: "POST", units: { words: 3n }, change: 7_000n });
    const [receipts, known] = [await keptReceipts(wallet), (await keptTerms(wallet)).map((signed) => signed.terms)];
    const checked = checkCharges(receipts, known);
    expect(checked.charges.map(({ signed, ruleKnown }) => [signed, ruleKnown])).to.deep.equal(
      receipts.map(() => [true, true]),
    );
    expect(checked.contradictions).to.deep.equal([]);
    expect(verifyReceipt(parseReceipt(charges[0]!.receipt), known[0]!.receiptKeys[0]!)).to.equal(true);
  });

  it("gives the handler the meter, and nothing that pays for another call", async () => {
    await payer().callTool({ ...writing(2), _meta: { trace: "7" } });
    const { [PAYMENT]: payment } = shown()._meta!;
    expect(Object.keys(payment as object).sort()).to.deep.equal(["X-Payment-Rule", "X-Payment-Token"]);
    const [{ payment: paid, meta }] = tools.ran as [MeteredTools["ran"][number]];
    expect(paid).to.include({ kind: "metered", amount: WORDS.cap });
    expect(meta).to.deep.equal({ trace: "7" });
    await charged(1);
  });

  it("serves a token once", async () => {
    await payer().callTool(writing(2));
    await charged(1);
    const before = redeemed();
    for (const params of [shown(), { ...shown(), arguments: { words: 3 } }]) {
      const refused = await call(params);
      expect(errorOf(refused)).to.equal("The payment was not accepted");
      expect(refused._meta?.["sotto/retry-after"]).to.equal(undefined);
    }
    expect([tools.ran.length, redeemed() - before]).to.deep.equal([1, 0]);
  });

  it("runs one of several equal calls with one token at once", async () => {
    const results: Promise<CallToolResult>[] = [];
    const paying = payer((params) => {
      if (params._meta?.[PAYMENT] !== undefined && results.length === 0)
        results.push(...[1, 2, 3].map(() => call(params)));
      return params;
    });
    const before = (await keptReceipts(wallet)).length;
    await paying.callTool(writing(1)).catch(() => undefined);
    await Promise.all(results);
    expect(tools.ran).to.have.length(1);
    await eventually(async () => (await keptReceipts(wallet)).length > before);
    expect((await keptReceipts(wallet)).at(-1)!.receipt.charge).to.equal(1_000n);
  });

  it("refuses a token that agrees to the rule of another tool, and leaves it unspent", async () => {
    const seen: CallToolResult[] = [];
    const others: Promise<unknown>[] = [];
    const paying = payer((params) => {
      if (params._meta?.[PAYMENT] === undefined) return params;
      const { "X-Payment-Token": token } = params._meta[PAYMENT] as Record<string, string>;
      const alone = { ...params, _meta: { [PAYMENT]: { "X-Payment-Token": token } } };
      for (const foreign of [{ ...params, name: "double" }, { ...params, name: "exact", arguments: {} }, alone])
        others.push(call(foreign).then((result) => seen.push(result)));
      return params;
    });
    const before = redeemed();
    await paying.callTool(writing(4));
    await Promise.all(others);
    expect(seen.map(errorOf)).to.deep.equal(seen.map(() => "The payment was not accepted"));
    expect(seen).to.have.length(3);
    expect(tools.ran.map(({ tool }) => tool)).to.deep.equal(["write"]);
    expect(await charged(1)).to.deep.equal([4_000n]);
    expect(redeemed() - before).to.equal(1);
  });

  it("refuses malformed payments, and spends, writes and fails nothing", async () => {
    const junk: readonly unknown[] = [
      ...["", "token", 7, true, null, [], ["x-payment-token"], {}],
      ...[{ "": "x" }, { "x-payment-token": 7 }, { "x-payment-token": "" }, { "x-payment-token": "a\nb" }],
      { "x-payment-token": "x".repeat(100_000) },
      { "x-payment-token": "x".repeat(472) },
      { "X-Payment-Token": "x", "x-payment-token": "x" },
      { __proto__: null, constructor: "x" },
      Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x-${i}`, "x"])),
      { "x-payment-rule": `0x${"00".repeat(32)}` },
      { "x-payment-proof": "{}" },
      { "x-tool-price": "0n" },
    ];
    const events = tools.events.length;
    for (const value of junk) {
      const result = await call({ ...writing(1), _meta: { [PAYMENT]: value } });
      expect(errorOf(result), JSON.stringify(value)?.slice(0, 80)).to.match(
        /^The payment (is malformed|was not accepted)$/,
      );
    }
    const unwanted = ["redeemed", "refused", "trouble", "unavailable"];
    expect(tools.events.slice(events).filter(({ event }) => unwanted.includes(event))).to.deep.equal([]);
    expect(tools.ran).to.deep.equal([]);
  });

  it("charges a call that is cancelled for what was counted until then", async () => {
    const leaving = new AbortController();
    const left = new Promise<void>((resolve) => {
      tools.behave = async (meter, signal) => {
        leaving.abort();
        await new Promise((aborted) => signal.addEventListener("abort", aborted, { once: true }));
        // The meter has ended, so nobody pays for this.
        await expectRejected("METER_ENDED", async () => meter.add({ words: 5 }));
        resolve();
        return said("late");
      };
    });
    const result = payer().callTool(writing(2), { signal: leaving.signal });
    await result.then(
      () => expect.fail("a cancelled call has a result"),
      () => undefined,
    );
    await left;
    expect(await charged(1)).to.deep.equal([2_000n]);
  });

  it("pays several calls of one client at once, each with a token of its own", async () => {
    const paying = payer();
    const results = await Promise.all([1, 2, 3].map((words) => paying.callTool(writing(words))));
    expect(results.map(({ _meta }) => _meta?.[CHARGE])).to.deep.equal(
      [1_000, 2_000, 3_000].map((charge) => ({ "x-payment-charge": String(charge) })),
    );
    expect([...(await charged(3))].sort()).to.deep.equal([1_000n, 2_000n, 3_000n]);
  });

  it("takes the cap for a private payment, whose meter counts up to it", async () => {
    const before = await tools.received();
    const paying = createPayingClient(client, { ...terms(), wallet, server: tools.origin, methods: [] });
    const counted: bigint[] = [];
    tools.behave = (meter) => {
      counted.push(meter.charge);
      return said("written");
    };
    const result = await paying.callTool(writing(4));
    expect(result._meta?.["x402/payment-response"]).to.include({ success: true });
    expect(result._meta?.[CHARGE]).to.equal(undefined);
    expect([counted, (await tools.received()) - before]).to.deep.equal([[4_000n], WORDS.cap]);
  });

  it("pays no call whose cap is above the limit for a request", async () => {
    const paying = createPayingClient(client, { ...terms(), wallet, server: tools.origin, maxPerRequest: 9_999n });
    await expectRejected("REQUEST_LIMIT_EXCEEDED", () => paying.callTool(writing(1)));
    expect(tools.ran).to.deep.equal([]);
  });

  it("pays no offer that contradicts the signed terms, and none that is malformed", async () => {
    const forging = (offers: unknown): Client =>
      ({
        callTool: async (params: Params) => {
          const result = await call(params);
          return { ...result, _meta: { ...result._meta, "sotto/offers": offers } };
        },
      }) as unknown as Client;
    const offered = async (name: string) =>
      ((await call(writing(1, name)))._meta as { readonly "sotto/offers": { readonly metered: object } })[
        "sotto/offers"
      ];
    const [{ metered }, double] = [await offered("write"), await offered("double")];
    for (const [given, code] of [
      [double, "PREPAID_TERMS_REFUSED"],
      [{ metered: { ...metered, cap: "20000" } }, "CHALLENGE_INVALID"],
      [{ metered: "junk" }, "CHALLENGE_INVALID"],
      ["junk", "TOOL_CHALLENGE_INVALID"],
    ] as const) {
      const paying = createPayingClient(forging(given), { ...terms(), wallet, server: tools.origin });
      await expectRejected(code, () => paying.callTool(writing(1)));
    }
    expect(tools.ran).to.deep.equal([]);
  });

  it("takes prepaid tokens for exact prices too", async () => {
    const wish = { origin: tools.origin, value: 1_000n };
    await buyPrepaid(fetch, wallet, terms(), wish);
    const before = [await tools.received(), await unspent()] as const;
    const result = await payer().callTool({ name: "exact" });
    expect([textOf(result), result._meta]).to.deep.equal(["exact", {}]);
    expect(tools.ran[0]!.payment).to.include({ kind: "prepaid", amount: 1_000n });
    expect([await tools.received(), await unspent()]).to.deep.equal([before[0], before[1] - 1_000n]);
    expect(errorOf(await call(shown()))).to.equal("The payment was not accepted");
    expect(tools.ran).to.have.length(1);
  });

  it("refuses to register a tool whose price is not in the signed terms", async () => {
    const { paywall } = tools;
    const register = (name: string, changes: object = {}) => {
      const price = meteredBy({ ...WORDS, ...changes });
      paidTool(new McpServer({ name: "other", version: "1.0.0" }), name, { paywall, price }, () => said("never"));
    };
    register("write");
    for (const [name, changes] of [
      ["other", {}],
      ["write", { cap: 5_000n }],
      ["double", {}],
    ] as const)
      await expectRejected("INVALID_OPTION", async () => register(name, changes));
  });

  it("answers the paths of tokens at the origin, and lets other requests pass", async () => {
    const paths = tools.paywall.paths.map(({ path }) => path);
    expect(paths).to.include.members(["/.well-known/sotto/prepaid/terms", "/.well-known/sotto/prepaid/change"]);
    expect((await fetch(`${tools.origin}/.well-known/sotto/prepaid/terms`)).status).to.equal(200);
    const decision = await tools.paywall.decide({ method: "POST", target: "/mcp/tool/write", header: () => [] });
    expect(decision.kind).to.equal("free");
  });
});
