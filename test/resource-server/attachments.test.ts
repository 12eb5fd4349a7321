// Something that payers show beside a private payment, made up here, on each adapter; and attachments that misbehave.
import type { AttachmentCore, OpenAttachment, PaymentAttachment, Paywall, PaywallEvent } from "@sotto/resource-server";
import { createPaywall, openAttachments } from "@sotto/resource-server";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { expectRejected, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall, paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, openMerchantWorld, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { ADAPTERS, type ResourceServer, type Sale } from "./support/servers.ts";

declare module "@sotto/resource-server" {
  interface PaymentAttachments {
    /** The text of the payer, and the first digits of the nullifier of its payment. */
    readonly memo?: { readonly text: string; readonly of: string } | undefined;
  }
}

/** Asks for a memo of at most 20 characters. */
const memo = (changes: Partial<OpenAttachment> = {}): PaymentAttachment => ({
  name: "memo",
  field: "memo",
  headers: ["X-Payment-Memo"],
  open: () => ({
    nothing: undefined,
    asks: () => ({ max: 20 }),
    async read({ payment, header }) {
      const [text = "", ...more] = header("x-payment-memo");
      if (text === "") return undefined;
      if (text.length > 20 || more.length > 0) throw new Error("the memo is too long");
      return { text, of: String(payment.nullifier).slice(0, 8) };
    },
    ...changes,
  }),
});

/** The names of a second attachment. */
const other = { name: "note", field: "note", headers: ["X-Payment-Note"] };

describe("what payers show beside a private payment", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });

  describeMatrix("on", ADAPTERS, (start) => {
    const sales: Sale[] = [];
    const events: PaywallEvent[] = [];
    let opened: { readonly paywall: Paywall; readonly server: ResourceServer } | undefined;
    const serve = async (...attachments: readonly PaymentAttachment[]): Promise<string> => {
      const onEvent = (event: PaywallEvent) => void events.push(event);
      const paywall = await openPaywall(world, { attachments, onEvent, cors: { origins: "*" } });
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
    const buy = async (url: string, headers: Record<string, string> = {}) => {
      const paid = await pay(world);
      const response = await fetch(`${url}/paid/a`, { headers: { ...showing(headerOf(paid)), ...headers } });
      expect([response.status, await response.text()]).to.deep.equal([200, "the goods"]);
      return paid.bundle.publicSignals[6]!;
    };

    it("is asked for in each 402, and seen by the handler beside its own payment", async () => {
      const url = await serve(memo());
      const asked = async () => ((await (await fetch(`${url}/paid/a`)).json()) as { payment: object }).payment;
      expect(await asked()).to.deep.include({ memo: { max: 20 } });
      expect(await asked()).to.deep.include({ memo: { max: 20 } });
      const nullifier = await buy(url, { "x-payment-memo": "order 7" });
      expect(sales[0]?.payment?.memo).to.deep.equal({ text: "order 7", of: nullifier.slice(0, 8) });
      expect(sales[0]?.header("x-payment-memo"), "nobody can pay with it").to.equal("order 7");
      await buy(url);
      expect(sales[1]?.payment).to.include({ kind: "payment", memo: undefined });
    });

    it("never takes away what was paid for", async () => {
      const url = await serve(memo());
      await buy(url, { "x-payment-memo": "x".repeat(21) });
      expect(sales[0]?.payment?.memo).to.equal(undefined);
      expect(events.flatMap(({ event, reason }) => (event === "trouble" ? [reason] : []))).to.deep.equal([
        "ATTACHMENT_FAILED",
      ]);
      const unpaid = await fetch(`${url}/paid/a`, { headers: { "x-payment-memo": "order 7" } });
      expect(unpaid.status, "it pays for nothing").to.equal(402);
    });

    it("may be sent by scripts, and caches tell it apart", async () => {
      const url = await serve(memo());
      const headers = { origin: "https://wallet.example", "access-control-request-method": "GET" };
      const preflight = await fetch(`${url}/paid/a`, { method: "OPTIONS", headers });
      expect(preflight.headers.get("access-control-allow-headers")).to.match(/^X-Payment-Proof, X-Payment-Memo, /);
      expect((await fetch(`${url}/paid/a`)).headers.get("vary")).to.match(/X-Payment-Proof, X-Payment-Memo/);
    });
  });

  it("is asked for in the same words in each 402, which are made once", async () => {
    let calls = 0;
    const asks = () => {
      calls += 1;
      return { max: calls };
    };
    const paywall = await openPaywall(world, { attachments: [memo({ asks })] });
    for (let request = 0; request < 3; request += 1) {
      const asked = await paywall.decide({ method: "GET", target: "/paid/a", header: () => [] });
      expect((asked as { body: { payment: object } }).body.payment).to.deep.include({ memo: { max: 1 } });
    }
    expect(calls).to.equal(1);
    await paywall.close();
  });

  it("prevents the paywall from opening if a 402 cannot ask for it", async () => {
    const asks = () => {
      throw new Error("unable");
    };
    let closed = 0;
    const close = async () => {
      closed += 1;
    };
    for (const wrong of [asks, () => ({ text: "x".repeat(1_000_000) })]) {
      const options = paywallOptions(world, {
        attachments: [memo({ close }), { ...memo({ asks: wrong, close }), ...other }],
      });
      await expectRejected("INVALID_OPTION", () => createPaywall(options));
    }
    expect(closed, "nothing stays open").to.equal(4);
  });

  it("is served without it if reading fails or does not end", async () => {
    const events: PaywallEvent[] = [];
    const never = new Promise<never>(() => undefined);
    const attachments = [memo({ read: () => never })];
    const paywall = await openPaywall(world, { attachments, onEvent: (event) => void events.push(event) });
    const { bundle, ...settled } = await pay(world);
    const headers = new Map(Object.entries(showing(headerOf({ bundle, ...settled }))));
    const request = (shown: ReadonlyMap<string, string>) => ({
      method: "GET",
      target: "/paid/a",
      header: (name: string) => [shown.get(name) ?? []].flat(),
    });
    const decision = await paywall.decide(request(headers));
    expect(decision.kind).to.equal("paid");
    if (decision.kind === "paid") await decision.finish(200);
    expect(events.filter(({ event }) => event === "trouble")).to.have.length(1);
    await paywall.close();
  });

  it("is read for another format from a payment's JSON, by a paywall or without one", async () => {
    const paid = await pay(world);
    const { bundle } = paid;
    const digest = `0x${"11".repeat(32)}` as const;
    const paywall = await openPaywall(world, { attachments: [memo()] });
    const { origin, service, chain } = paywallOptions(world);
    const alone = await openAttachments([{ ...memo(), circuits: ["origin"] }], { origin, service, chain });
    const nullifier = BigInt(bundle.publicSignals[6]!);
    const payment = {
      nullifier,
      digest,
      bounds: { lowerBound: 1n, upperBound: 1n },
      resource: origin,
      wallet: "0x" as const,
      timestamp: 1,
    };
    for (const one of [paywall.attachments, alone]) {
      expect(one.asked).to.deep.equal({ memo: { max: 20 } });
      const read = (shown: object) => one.read(payment, { ...bundle, ...shown });
      const of = String(nullifier).slice(0, 8);
      expect(await read({ memo: "order 7" })).to.deep.equal({ memo: { text: "order 7", of } });
      for (const memo of [undefined, 7, ["order 7"], { text: "order 7" }, "", "order\n7", "x".repeat(21)])
        expect(await read({ memo }), JSON.stringify(memo)).to.deep.equal({ memo: undefined });
    }
    await paywall.close();
    await alone.close();
    const wrong = openAttachments([{ ...memo(), circuits: ["unknown"] }], { origin, service, chain });
    expect(await rejection(wrong)).to.have.property("code", "INVALID_OPTION");
  });

  it("opens without its keys if the service does not answer, and cannot check proofs until it does", async () => {
    const { origin, chain } = paywallOptions(world);
    const events: PaywallEvent[] = [];
    const checking = memo({});
    let verify: AttachmentCore["verify"] | undefined;
    const one: PaymentAttachment = {
      ...checking,
      circuits: ["origin"],
      open: (core) => {
        ({ verify } = core);
        return checking.open(core);
      },
    };
    const onEvent = (event: PaywallEvent) => void events.push(event);
    const alone = await openAttachments([one], { origin, service: "http://127.0.0.1:9/zk", chain, onEvent });
    expect(events.map(({ event, reason }) => [event, reason])).to.deep.equal([["trouble", "SERVICE_UNAVAILABLE"]]);
    const error = await rejection(verify!("origin", [], []));
    expect(error).to.include({ name: "CheckUnavailable", code: "SERVICE_UNAVAILABLE" });
    await alone.close();
  });

  it("is refused by the paywall if its names are taken, or its circuit has no keys", async () => {
    const method = { name: "other", headers: [{ name: "X-Other" }], open: () => ({}) };
    const wrong: [string, object][] = [
      ["its name is a field of a 402", { name: "recipient" }],
      ["its name is a method's", { name: "other" }],
      ["its field is every payment's", { field: "nullifier" }],
      ["its header is the private payment's", { headers: ["x-payment-proof"] }],
      ["its header is a method's", { headers: ["X-OTHER"] }],
      ["its circuit is unknown", { circuits: ["unknown"] }],
    ];
    for (const [what, changes] of wrong) {
      const options = paywallOptions(world, { methods: [method], attachments: [{ ...memo(), ...changes }] });
      expect(await rejection(createPaywall(options)), what).to.have.property("code", "INVALID_OPTION");
    }
    const twice = paywallOptions(world, { attachments: [memo(), { ...memo(), name: "note" }] });
    await expectRejected("INVALID_OPTION", () => createPaywall(twice));
    const control = await openPaywall(world, { methods: [method], attachments: [{ ...memo(), circuits: ["origin"] }] });
    await control.close();
  });
});
