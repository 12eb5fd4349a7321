// Ways to pay besides the private payment, made up here, on each adapter; and methods that misbehave.

import type { OpenMethod, PaymentMethod, Paywall, PaywallEvent } from "@sotto/resource-server";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { openPaywall } from "./support/options.ts";
import { HINT, password } from "./support/password.ts";
import { headerOf, showing } from "./support/payments.ts";
import { ADAPTERS, type ResourceServer, type Sale } from "./support/servers.ts";
import { type MerchantWorld, openMerchantWorld, PRICE, pay } from "./support/world.ts";

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
      request.header("authorization").some((value) => /^voucher /i.test(value))
        ? paid({ kind: "password", id: "voucher", amount, resource }, async () => undefined)
        : undefined,
  }),
};

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
        return { status: 200, text: "the goods" };
      });
      opened = { paywall, server };
      return server.url;
    };
    afterEach(async () => {
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
      const proof = { ...showing(headerOf(await pay(world))), authorization: "Basic dXNlcg==" };
      expect((await fetch(`${url}/paid/a`, { headers: proof })).status).to.equal(200);
      expect(sales.at(-1)?.header("authorization")).to.equal("Basic dXNlcg==");
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
