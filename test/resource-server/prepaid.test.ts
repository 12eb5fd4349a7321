// Packs of prepaid tokens, bought with real payments and spent on each adapter; and attacks on the sale.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { epochOf, laterEpoch, PREPAID_KEYS_PATH, PREPAID_RECOVER_PATH, prepaidRecoverTarget } from "@sotto/prepaid";
import { type PrepaidMethod, type PrepaidOptions, prepaid as prepaidTokens } from "@sotto/prepaid/server";
import type { Paywall, PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { postAlone } from "@sotto/test-kit/http";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall, paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import {
  bytesOf,
  COUNT,
  createPack,
  createPrepaid,
  payFor,
  purchase,
  recover,
  tokensOf,
} from "@sotto/test-world/paywall/prepaid";
import { forgeFor, type MerchantWorld, ORIGIN, openMerchantWorld, PRICE, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { INVALID } from "./support/counter.ts";
import { startServerProcess } from "./support/processes.ts";
import { ADAPTERS, type ResourceServer, type Sale, type SaleHandler } from "./support/servers.ts";

const DAY_MS = 86_400_000;

describe("prepaid tokens", function () {
  slow(this, "a chain, a service, proofs and RSA keys");
  let world: MerchantWorld;
  let prepaid: PrepaidOptions;
  before(async () => {
    await clearOfMidnight();
    world = await openMerchantWorld();
    prepaid = await createPrepaid(world);
  });

  describeMatrix("on", ADAPTERS, (start, attack, name) => {
    let tokens: PrepaidMethod;
    let paywall: Paywall;
    let server: ResourceServer;
    let ahead = 0;
    let sell: SaleHandler;
    const sales: Sale[] = [];
    const events: PaywallEvent[] = [];
    before(async () => {
      tokens = prepaidTokens(prepaid);
      const changes: Partial<PaywallOptions> = {
        methods: [tokens],
        clock: () => Date.now() + ahead,
        onEvent: (event) => void events.push(event),
      };
      paywall = await openPaywall(world, changes);
      server = await start(paywall, (sale) => {
        sales.push(sale);
        return sell(sale);
      });
    });
    after(async () => {
      await server?.close();
      await paywall?.close();
    });
    beforeEach(() => {
      ahead = 0;
      sales.length = 0;
      events.length = 0;
      sell = () => ({ status: 200, text: "the goods" });
    });
    const wire = async () => (await fetch(`${server.url}${PREPAID_KEYS_PATH}`)).json();
    const newPack = async (later = 0) => createPack(await wire(), later);

    it("are bought with one payment, and each pays for one request", async () => {
      const pack = await newPack();
      const asked = await purchase(server.url, pack);
      const terms = (await asked.json()) as { payment: object; metadata: { resource: string } };
      expect(asked.status).to.equal(402);
      expect(terms.payment)
        .to.include({ amountBaseUnits: String(BigInt(COUNT) * PRICE) })
        .and.not.have.property("prepaid");
      expect(terms.metadata.resource).to.equal(`${ORIGIN}${pack.target}`);
      const offered = (await (await fetch(`${server.url}/paid/a`)).json()) as { payment: { prepaid: object } };
      expect(offered.payment.prepaid).to.deep.equal({ tokenKeyId: pack.key.id, value: String(PRICE) });

      const payment = await payFor(world, pack);
      const answer = await purchase(server.url, pack, payment);
      expect(answer.status, await (answer.ok ? "" : answer.text())).to.equal(200);
      expect(answer.headers.get("content-type")).to.equal("application/octet-stream");
      expect(answer.headers.get("cache-control")).to.equal("no-store");
      expect(answer.headers.get("vary")?.toLowerCase()).to.include("x-payment-proof").and.include("x-payment-token");
      const signatures = await bytesOf(answer);
      const [first, second] = tokensOf(pack, signatures);

      const bought = await fetch(`${server.url}/paid/a`, { headers: first! });
      expect([bought.status, await bought.text()]).to.deep.equal([200, "the goods"]);
      expect(bought.headers.get("vary")?.toLowerCase()).to.include("x-payment-token");
      expect(sales[0]?.payment).to.include({ kind: "prepaid", amount: PRICE, resource: `${ORIGIN}/paid/a` });
      expect(sales[0]?.header("x-payment-token"), "the handler sees no token").to.equal(undefined);
      const again = await fetch(`${server.url}/paid/a`, { headers: first! });
      expect([again.status, again.headers.get("retry-after")]).to.deep.equal([402, null]);
      expect((await fetch(`${server.url}/paid/b`, { headers: second! })).status).to.equal(200);
      expect(sales.length).to.equal(2);

      // A replay of the purchase is refused; recovery returns the same bytes, now and a day later.
      const replay = await purchase(server.url, pack, payment);
      expect([replay.status, await replay.json()]).to.deep.equal([402, INVALID]);
      for (ahead of [0, DAY_MS]) {
        if (epochOf(Date.now() + ahead) > laterEpoch(epochOf(Date.now()), 1)) continue;
        const recovered = await recover(server.url, pack, payment);
        expect(recovered.status).to.equal(200);
        expect(await bytesOf(recovered)).to.deep.equal(signatures);
        expect((await purchase(server.url, pack, payment)).status).to.be.oneOf([402, 410]);
      }
      expect(events.filter(({ event }) => event === "issued")).to.have.length(1);
      const [totals] = await tokens.totals();
      expect(totals).to.deep.include({
        key: pack.key.id,
        issued: COUNT,
        redeemed: 2,
        outstanding: BigInt(COUNT - 2) * PRICE,
      });
    });

    attack("can be recovered if the purchase was never shown, and shown afterwards", async () => {
      const pack = await newPack();
      const payment = await payFor(world, pack);
      const recovered = await recover(server.url, pack, payment);
      expect(recovered.status).to.equal(200);
      const signatures = await bytesOf(recovered);
      expect(tokensOf(pack, signatures)).to.have.length(COUNT);
      const shown = await purchase(server.url, pack, payment);
      expect([shown.status, await bytesOf(shown)]).to.deep.equal([200, signatures]);
    });

    attack("are not signed for another body, and the right body still gets its signatures", async () => {
      const [pack, other] = [await newPack(), await newPack()];
      const payment = await payFor(world, pack);
      for (const body of [
        other.request,
        pack.request.subarray(1),
        new Uint8Array(0),
        new Uint8Array(COUNT * 256).fill(255),
      ]) {
        const refused = await purchase(server.url, pack, payment, body);
        expect([refused.status, ((await refused.json()) as { code: string }).code]).to.deep.equal([
          400,
          "PREPAID_REQUEST_INVALID",
        ]);
      }
      const elsewhere = await purchase(server.url, other, payment);
      expect([elsewhere.status, await elsewhere.json()]).to.deep.equal([402, INVALID]);
      expect((await purchase(server.url, pack, payment)).status).to.equal(200);
    });

    attack("of unknown keys and of keys that do not sign now are refused before any 402", async () => {
      const pack = await newPack();
      const ended = await newPack(-1);
      const early = await newPack(1);
      const unknown = { ...pack, target: pack.target.replace(/key=0x.{4}/, "key=0x0000") };
      const asked = async (one: typeof pack) => {
        const response = await purchase(server.url, one);
        return [response.status, ((await response.json()) as { code?: string }).code];
      };
      expect(await asked(unknown)).to.deep.equal([404, "PREPAID_KEY_UNKNOWN"]);
      expect(await asked(ended)).to.deep.equal([410, "PREPAID_KEY_ENDED"]);
      expect(await asked(early)).to.deep.equal([410, "PREPAID_KEY_ENDED"]);
      for (const target of [`${pack.target}&a=1`, pack.target.replace("n=100", "n=50"), pack.target.split("&")[0]!])
        expect(await asked({ ...pack, target }), target).to.deep.equal([400, "PREPAID_REQUEST_INVALID"]);
      expect(await asked(pack)).to.deep.equal([402, undefined]);
      expect((await fetch(`${server.url}${pack.target}`)).status).to.be.oneOf(
        name === "Fastify" ? [402, 404, 405] : [405],
      );
    });

    attack("are not recovered with a payment that is not settled, for another pack, or malformed", async () => {
      const [pack, other] = [await newPack(), await newPack()];
      const payment = await payFor(world, pack);
      const codeOf = async (response: Response) => [
        response.status,
        ((await response.json()) as { code: string }).code,
      ];
      expect(await codeOf(await recover(server.url, other, payment))).to.deep.equal([403, "PREPAID_PAYMENT_REFUSED"]);
      const report = await pay(world);
      expect(await codeOf(await recover(server.url, pack, report))).to.deep.equal([403, "PREPAID_PAYMENT_REFUSED"]);
      const bundle = forgeFor(world, { target: other.target, price: BigInt(COUNT) * PRICE });
      const unsettled = { bundle, paymentToken: payment.paymentToken, txSignature: payment.txSignature };
      expect(await codeOf(await recover(server.url, other, unsettled))).to.deep.equal([403, "PREPAID_PAYMENT_REFUSED"]);
      const invalid = [400, "PREPAID_REQUEST_INVALID"];
      for (const body of [new Uint8Array(0), pack.request.subarray(1), other.request, new Uint8Array(600_000)])
        expect(await codeOf(await recover(server.url, pack, payment, body)), String(body.length)).to.deep.equal(
          invalid,
        );
      const target = prepaidRecoverTarget({ key: pack.key.id, count: COUNT, batch: pack.batch });
      const ask = async (changed: string, headers: Record<string, string> = {}) =>
        codeOf(await postAlone(server.url + changed, headers, pack.request));
      for (const changed of [PREPAID_RECOVER_PATH, target.replace("0x", ""), target.replace("100", "10"), `${target}0`])
        expect(await ask(changed), changed).to.deep.equal(invalid);
      for (const proof of ["", "{}"]) expect(await ask(target, { "x-payment-proof": proof })).to.deep.equal(invalid);
      expect(await codeOf(await recover(server.url, pack, undefined))).to.deep.equal([404, "PREPAID_PACK_UNKNOWN"]);
      const signed = await bytesOf(await recover(server.url, pack, payment));
      // Now the signatures are stored, so neither proof nor body is needed.
      const again = await recover(server.url, pack, undefined);
      expect([again.status, await bytesOf(again)]).to.deep.equal([200, signed]);
    });

    attack("are returned if the handler fails, and not if it hangs until the client leaves", async () => {
      const pack = await newPack();
      const tokens = tokensOf(pack, await bytesOf(await purchase(server.url, pack, await payFor(world, pack))));
      sell = () => (sales.length < 2 ? { status: 500, text: "failed" } : { status: 200, text: "the goods" });
      const show = (headers: Record<string, string>, signal?: AbortSignal) =>
        fetch(`${server.url}/paid/a`, { headers, ...(signal === undefined ? {} : { signal }) });
      expect((await show(tokens[0]!)).status).to.equal(500);
      let answer = await show(tokens[0]!);
      // The return is being stored.
      while (answer.status === 402 && answer.headers.has("retry-after")) answer = await show(tokens[0]!);
      expect(answer.status).to.equal(200);

      let begun = () => {};
      const started = new Promise<void>((resolve) => {
        begun = resolve;
      });
      sell = async () => {
        begun();
        return new Promise(() => undefined);
      };
      const left = new AbortController();
      const hanging = show(tokens[1]!, left.signal).catch(() => "left");
      await started;
      left.abort();
      expect(await hanging).to.equal("left");
      sell = () => ({ status: 200, text: "the goods" });
      // While the server believes that the handler runs, the refusal is not final.
      expect((await show(tokens[1]!)).status).to.equal(402);
      expect((await show(tokens[2]!)).status).to.equal(200);
    });

    attack("are untouched if the request has a proof", async () => {
      const pack = await newPack();
      const [token] = tokensOf(pack, await bytesOf(await purchase(server.url, pack, await payFor(world, pack))));
      const proof = showing(headerOf(await pay(world)));
      expect((await fetch(`${server.url}/paid/a`, { headers: { ...token, ...proof } })).status).to.equal(200);
      expect(sales[0]?.payment?.kind).to.equal("payment");
      expect((await fetch(`${server.url}/paid/a`, { headers: token! })).status).to.equal(200);
      expect(sales[1]?.payment?.kind).to.equal("prepaid");
    });
  });

  it("are neither lost nor spent twice if the server is killed at any write", async () => {
    const preload = `--import=${join(import.meta.dirname, "support", "killed-at-write.mjs")}`;
    const stops: Record<string, string>[] = [
      { KILL_BEFORE: "1" },
      { KILL_BEFORE: "2" },
      { KILL_BEFORE: "3" },
      { KILL_AT_TOKEN: "before" },
      { KILL_AT_TOKEN: "after" },
    ];
    for (const stop of stops) {
      const options = paywallOptions(world, { store: `sqlite:${join(world.folder, `${randomUUID()}.sqlite`)}` });
      const order = { adapter: "Express 5", options, prepaid, ahead: 0 };
      const dying = await startServerProcess(order, { NODE_OPTIONS: preload, ...stop });
      const pack = createPack(await (await fetch(`${dying.url}${PREPAID_KEYS_PATH}`)).json());
      const payment = await payFor(world, pack);
      const got = await purchase(dying.url, pack, payment).then(bytesOf, () => undefined);
      const [early] = got === undefined ? [] : tokensOf(pack, got);
      expect(early !== undefined, JSON.stringify(stop)).to.equal("KILL_AT_TOKEN" in stop);
      const cut =
        early === undefined ? undefined : await fetch(`${dying.url}/paid/a`, { headers: early }).catch(() => "cut");
      if (early !== undefined) expect(cut).to.equal("cut");
      await dying.kill();

      const server = await startServerProcess(order);
      try {
        const signatures = await bytesOf(await recover(server.url, pack, payment));
        if (got !== undefined) expect(signatures).to.deep.equal(got);
        const [first, second] = tokensOf(pack, signatures);
        const shown = await fetch(`${server.url}/paid/a`, { headers: first! });
        expect(shown.status, JSON.stringify(stop)).to.equal(stop["KILL_AT_TOKEN"] === "after" ? 402 : 200);
        expect((await fetch(`${server.url}/paid/a`, { headers: first! })).status).to.equal(402);
        expect((await fetch(`${server.url}/paid/a`, { headers: second! })).status).to.equal(200);
      } finally {
        await server.kill();
      }
    }
  });

  it("are not accepted with a schedule that another wallet signed", async () => {
    const [signed] = prepaid.schedules as { schedule: never; signature: string }[];
    const digit = signed!.signature[20] === "0" ? "1" : "0";
    const forged = { ...signed!, signature: `${signed!.signature.slice(0, 20)}${digit}${signed!.signature.slice(21)}` };
    const failure = await openPaywall(world, { methods: [prepaidTokens({ ...prepaid, schedules: [forged] })] }).then(
      () => "opened",
      ({ code }: { code: string }) => code,
    );
    expect(failure).to.equal("PREPAID_SCHEDULE_NOT_SIGNED");
  });
});
