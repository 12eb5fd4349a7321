// Ways to pay besides the private payment, made up here, on each adapter; and methods that misbehave.

import {
  CheckFailed,
  type OpenMethod,
  type PaymentMethod,
  type Paywall,
  type PaywallEvent,
} from "@sotto/resource-server";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, openMerchantWorld, PRICE, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { HINT, password } from "./support/password.ts";
import { ADAPTERS, type ResourceServer, type Sale, type SaleHandler } from "./support/servers.ts";

/** A method that adds nothing, except for what a test gives it. */
const made = (name: string, open: OpenMethod, rest: Omit<PaymentMethod, "name" | "open"> = {}): PaymentMethod => ({
  name,
  ...rest,
  open: () => open,
});

/** Is paid with `Authorization: Voucher ...`, and accepts every voucher. */
const voucher: PaymentMethod = {
  name: "voucher",
  headers: [{ name: "Authorization", scheme: "Voucher" }],
  open: ({ paid }) => ({
    offer: () => ({ authenticate: ['Voucher realm="data"'] }),
    decide: async (request, { price: amount, resource }) =>
      request.header("authorization").some((value) => /(?:^|, )voucher /i.test(value))
        ? paid({ kind: "password", id: "voucher", amount, resource }, async () => undefined)
        : undefined,
  }),
};

/** Is paid with a ticket for a body that it has seen, and gives a receipt for it. */
const ticket = (events: string[] = []): PaymentMethod => ({
  name: "ticket",
  headers: [{ name: "X-Ticket" }, { name: "Accept-Ticket", kept: true }],
  open: ({ paid }) => ({
    offer: async (_terms, peek) => {
      const body = await peek(100);
      events.push(body === undefined ? "too long" : Buffer.from(body).toString());
      return {
        authenticate: ['Ticket realm="data"'],
        contentType: { type: "application/ticket+json", header: "Accept-Ticket" },
      };
    },
    decide: async (request, { price: amount, resource }) => {
      const [shown] = request.header("x-ticket");
      if (shown === undefined) return undefined;
      const body = await request.peekBody?.(100);
      if (body === undefined || Buffer.from(body).toString() !== shown) throw new CheckFailed("TICKET");
      const decision = paid({ kind: "password", id: shown, amount, resource }, async () => undefined);
      return { ...decision, receipt: { "x-receipt": shown } };
    },
  }),
});

interface Answer {
  readonly payment: Record<string, unknown>;
}

describe("other ways to pay", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });

  describeMatrix("on", ADAPTERS, (start, attack) => {
    const sales: Sale[] = [];
    const events: PaywallEvent[] = [];
    let opened: { readonly paywall: Paywall; readonly server: ResourceServer } | undefined;
    /** @returns the server's URL */
    const serve = async (...methods: readonly PaymentMethod[]): Promise<string> => {
      const onEvent = (event: PaywallEvent) => void events.push(event);
      const paywall = await openPaywall(world, { methods, onEvent, cors: { origins: "*" } });
      const server = await start(paywall, (sale) => {
        sales.push(sale);
        return answer(sale);
      });
      opened = { paywall, server };
      return server.url;
    };
    const goods: SaleHandler = () => ({ status: 200, text: "the goods" });
    let answer = goods;
    afterEach(async () => {
      answer = goods;
      await opened?.server.close();
      await opened?.paywall.close();
      opened = undefined;
      sales.length = 0;
      events.length = 0;
    });
    const reasons = (event: string) => events.flatMap((one) => (one.event === event ? [one.reason] : []));

    it("accept a password once, beside private payments, and hide it from the handler", async () => {
      const url = await serve(password(new Set(["sesame"])));
      const shown = { headers: { "X-Password": "sesame" } };
      const asked = await fetch(`${url}/paid/a`);
      const { payment } = (await asked.json()) as Answer;
      expect(payment["password"]).to.deep.equal({ hint: HINT, value: String(PRICE) });
      expect(asked.headers.get("www-authenticate")).to.equal("x402-zk");
      expect(asked.headers.get("vary")).to.match(/X-Payment-Proof, X-Password/);

      const paid = await fetch(`${url}/paid/a`, shown);
      expect([paid.status, await paid.text()]).to.deep.equal([200, "the goods"]);
      expect(paid.headers.get("vary")).to.include("X-Password");
      expect([sales[0]?.payment?.kind, sales[0]?.header("x-password")]).to.deep.equal(["password", undefined]);
      const again = await fetch(`${url}/paid/a`, shown);
      expect([again.status, again.headers.get("retry-after")]).to.deep.equal([402, null]);
      expect(reasons("refused")).to.deep.equal(["PASSWORD"]);

      const proof = await fetch(`${url}/paid/a`, {
        headers: { ...shown.headers, ...showing(headerOf(await pay(world))) },
      });
      expect([proof.status, sales.at(-1)?.payment?.kind]).to.deep.equal([200, "payment"]);
      expect(sales.at(-1)?.header("x-password")).to.equal(undefined);
    });

    it("answer paths of their own, and let scripts send their headers", async () => {
      const url = await serve(password(new Set()));
      const hint = await fetch(url + HINT);
      expect([hint.status, await hint.text()]).to.deep.equal([200, "ask the merchant"]);
      const preflight = await fetch(`${url}/paid/a`, {
        method: "OPTIONS",
        headers: { origin: "https://wallet.example", "access-control-request-method": "GET" },
      });
      expect(preflight.headers.get("access-control-allow-headers")).to.match(/^X-Payment-Proof, X-Password, /);
    });

    it("can share a header by its scheme, of which the handler sees the others", async () => {
      const url = await serve(voucher);
      const asked = await fetch(`${url}/paid/a`);
      expect(asked.headers.get("www-authenticate")).to.equal('x402-zk, Voucher realm="data"');
      for (const [authorization, status] of [
        ["Basic dXNlcg==", 402],
        ["Voucher 7", 200],
        ["voucher 7", 200],
      ] as const)
        expect((await fetch(`${url}/paid/a`, { headers: { authorization } })).status, authorization).to.equal(status);
      expect(sales.map((sale) => sale.header("authorization"))).to.deep.equal([undefined, undefined]);
      // The handler keeps the other schemes of the same line, also if they have commas and quotes.
      const mixed = 'Digest username="a, Voucher b",uri="/" , Voucher 7, Basic  dXNlcg==';
      expect((await fetch(`${url}/paid/a`, { headers: { authorization: mixed } })).status).to.equal(200);
      expect(sales.at(-1)?.header("authorization")).to.equal('Digest username="a, Voucher b",uri="/", Basic  dXNlcg==');
      const proof = { ...showing(headerOf(await pay(world))), authorization: "Basic dXNlcg==" };
      expect((await fetch(`${url}/paid/a`, { headers: proof })).status).to.equal(200);
      expect(sales.at(-1)?.header("authorization")).to.equal("Basic dXNlcg==");
    });

    it("read the body before the handler, which reads it too", async () => {
      const seen: string[] = [];
      const url = await serve(ticket(seen));
      answer = async (sale) => ({ status: 200, text: await sale.body() });
      const post = (body: BodyInit, headers: Record<string, string> = {}) => {
        const init = { method: "POST", body, duplex: "half", headers: { "content-type": "text/plain", ...headers } };
        return fetch(`${url}/paid/a`, init);
      };
      const chunks = (...parts: string[]) =>
        new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(Buffer.from(part));
            controller.close();
          },
        });
      await post("few");
      await post(chunks("in ", "parts"));
      await post("x".repeat(101));
      await post(chunks("x".repeat(60), "x".repeat(60)));
      await fetch(`${url}/paid/a`);
      expect(seen).to.deep.equal(["few", "in parts", "too long", "too long", ""]);

      for (const [body, shown] of [
        ["few", "few"],
        [chunks("in ", "parts"), "in parts"],
        ["x".repeat(100), "x".repeat(100)],
      ] as const) {
        const paid = await post(body, { "x-ticket": shown });
        expect([paid.status, await paid.text()]).to.deep.equal([200, shown]);
      }
      expect((await post("other", { "x-ticket": "few" })).status).to.equal(402);
      // The private payment: the method has not read the body, or put it back.
      const proof = await post("x".repeat(5_000), showing(headerOf(await pay(world))));
      expect([proof.status, await proof.text()]).to.deep.equal([200, "x".repeat(5_000)]);
    });

    it("give receipts to successful responses only, and keep shared caches from them", async () => {
      const url = await serve(ticket());
      const shown = { method: "POST", body: "b", headers: { "x-ticket": "b", "content-type": "text/plain" } };
      for (const [status, receipt] of [
        [200, "b"],
        [201, "b"],
        [404, null],
        [500, null],
      ] as const) {
        answer = () => ({ status, text: "the goods" });
        const paid = await fetch(`${url}/paid/a`, shown);
        expect([paid.status, paid.headers.get("x-receipt")]).to.deep.equal([status, receipt]);
        expect(paid.headers.get("cache-control")).to.equal(receipt === null ? "no-store" : "no-store, private");
      }
    });

    it("choose the media type of a 402 by a header that they read, which handlers still see", async () => {
      const url = await serve(ticket());
      const typeOf = async (headers: Record<string, string>) =>
        (await fetch(`${url}/paid/a`, { headers })).headers.get("content-type")?.split(";")[0];
      expect(await typeOf({})).to.equal("application/json");
      expect(await typeOf({ "accept-ticket": "1" })).to.equal("application/ticket+json");
      await fetch(`${url}/paid/a`, { headers: { "accept-ticket": "1", ...showing(headerOf(await pay(world))) } });
      expect(sales.at(-1)?.header("accept-ticket")).to.equal("1");
    });

    it("add their challenges to the refusal of a private payment", async () => {
      const url = await serve(ticket(), password(new Set()));
      const used = showing(headerOf(await pay(world)));
      expect((await fetch(`${url}/paid/a`, { headers: used })).status).to.equal(200);
      const again = await fetch(`${url}/paid/a`, { headers: used });
      expect([again.status, again.headers.get("www-authenticate")]).to.deep.equal([402, 'Ticket realm="data"']);
      expect(await again.json()).to.have.property("error", "Invalid payment proof");
    });

    it("can shorten their headers to what the others leave, in any order", async () => {
      const fixed = made("fixed", { offer: () => ({ headers: { "X-Fixed": "a".repeat(2_000) } }) });
      const rooms: number[] = [];
      const adapts = made("adapts", {
        offer: () => ({
          headers: (bytes) => {
            rooms.push(bytes);
            return { "X-Adapts": "b".repeat(bytes - "x-adapts: \r\n".length) };
          },
        }),
      });
      for (const methods of [
        [fixed, adapts],
        [adapts, fixed],
      ]) {
        const asked = await fetch(`${await serve(...methods)}/paid/a`);
        const lengths = ["x-fixed", "x-adapts"].map((name) => asked.headers.get(name)?.length);
        expect(lengths).to.deep.equal([2_000, 3_136 - 2_011 - 12]);
        await opened!.server.close();
        await opened!.paywall.close();
        opened = undefined;
      }
      expect(rooms).to.deep.equal([1_125, 1_125]);
    });

    attack("that throw are skipped, and never serve a request", async () => {
      const fails = () => Promise.reject(new Error("lost"));
      const broken = made(
        "broken",
        { offer: fails, decide: async ({ header }) => (header("x-broken")[0] ? fails() : undefined) },
        {
          headers: [{ name: "X-Broken" }],
        },
      );
      const url = await serve(broken, password(new Set(["sesame"])));
      const asked = await fetch(`${url}/paid/a`);
      expect([asked.status, Object.keys(((await asked.json()) as Answer).payment)]).to.satisfy(
        ([status, names]: [number, string[]]) =>
          status === 402 && names.includes("password") && !names.includes("broken"),
      );
      expect(reasons("trouble")).to.deep.equal(["OFFER_FAILED"]);
      const shown = await fetch(`${url}/paid/a`, { headers: { "X-Broken": "1" } });
      expect([shown.status, shown.headers.get("retry-after"), sales.length]).to.deep.equal([402, "5", 0]);
      expect((await fetch(`${url}/paid/a`, { headers: { "X-Password": "sesame" } })).status).to.equal(200);
    });

    attack("cannot change the private payment's terms, nor headers of the paywall", async () => {
      const wrong: readonly OpenMethod[] = [
        { offer: () => ({ body: { payment: { recipient: "mine" }, metadata: {} } }) },
        { offer: () => ({ payment: { text: "a".repeat(5_000) } }) },
        { offer: () => ({ payment: JSON.parse('{"__proto__":{"amount":0}}') as object }) },
        { offer: () => ({ headers: { "Cache-Control": "public" } }) },
        { offer: () => ({ headers: { "X-Long": "a".repeat(3_200) } }) },
        { offer: () => ({ authenticate: ["Voucher\r\nSet-Cookie: a=b"] }) },
      ];
      for (const open of wrong) {
        const url = await serve(made("other", open));
        const asked = await fetch(`${url}/paid/a`);
        const { payment, metadata } = (await asked.json()) as Answer & { metadata: { resource: string } };
        expect(Object.keys(payment)).not.to.include("other");
        expect([payment["amountBaseUnits"], metadata.resource.endsWith("/paid/a")]).to.deep.equal([
          String(PRICE),
          true,
        ]);
        expect(asked.headers.get("cache-control")).to.equal("no-store");
        expect([asked.headers.get("x-long"), asked.headers.get("set-cookie")]).to.deep.equal([null, null]);
        expect(asked.headers.get("www-authenticate")).to.equal("x402-zk");
        expect((await fetch(`${url}/paid/a`, { headers: showing(headerOf(await pay(world))) })).status).to.equal(200);
        await opened!.server.close();
        await opened!.paywall.close();
        opened = undefined;
      }
    });

    attack("get nothing of the payer for their offers", async () => {
      const terms: object[] = [];
      const url = await serve(made("spy", { offer: (asked) => void terms.push(asked) }));
      for (const headers of [{}, { cookie: "user=7", "user-agent": "mine", authorization: "Basic a" }])
        await fetch(`${url}/paid/a?b=c`, { headers });
      expect(terms).to.have.length(2);
      expect(terms[0]).to.deep.equal(terms[1]).and.to.have.all.keys("method", "target", "resource", "token", "price");
    });
  });

  it("are asked for offers only if the private payment can pay", async () => {
    const asked: string[] = [];
    const spy = made("spy", { offer: ({ target }) => void asked.push(target.target) });
    const paywall = await openPaywall(world, { methods: [spy] });
    // A proof for the first target would not fit into a header.
    for (const target of [`/paid/${'"'.repeat(2_000)}`, "/paid/a"])
      await paywall.decide({ method: "GET", target, header: () => [] });
    expect(asked).to.deep.equal(["/paid/a"]);
    await paywall.close();
  });

  it("are closed again if one of them does not open", async () => {
    const closed: string[] = [];
    const first = made("first", { close: async () => void closed.push("first") });
    const failing: PaymentMethod = { name: "failing", open: () => Promise.reject(new Error("no store")) };
    const failure = await openPaywall(world, { methods: [first, failing] }).catch(({ message }: Error) => message);
    expect([failure, closed]).to.deep.equal(["no store", ["first"]]);
  });
});
