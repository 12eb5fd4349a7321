// With the published client, a payer is safe from lost responses, crashes and faulty proxies.

import { slow } from "@sotto/test-kit/slow";
import { aheadChain } from "@sotto/test-world/ahead-chain";
import { fund, openWallet, payerWith, until } from "@sotto/test-world/wallets";
import { createSeedWords, MemoryStore, seedFromWords, type Wallet } from "@sotto/wallet";
import type { SottoScheme } from "@sotto/x402/client";
import { wrapFetchWithPayment, type x402Client } from "@x402/fetch";
import { expect } from "chai";
import { decode } from "./support/resource-server.ts";
import { clientOf, failure, openSelling, PRICE, type Selling } from "./support/selling.ts";

type Fetch = typeof fetch;

describe("a payer with the published @x402/fetch", function () {
  slow(this, "a chain, a service and proofs");
  let selling: Selling;
  let world: Selling["world"];
  let between: Selling["between"];
  let server: Selling["server"];
  let url: Selling["url"];
  let schemeOf: Selling["schemeOf"];
  let required: Selling["required"];
  before(async () => {
    selling = await openSelling();
    ({ world, between, server, url, schemeOf, required } = selling);
  });
  afterEach(() => selling.recover());
  after(() => selling.close());

  /** A payer for which time passes: its clock and its chain are ahead. */
  const openLater = async (ms: () => number) => {
    const chain = aheadChain(await openWallet(world), ms);
    return openWallet(world, { chain, clock: () => Date.now() + ms() });
  };
  const spent = async (wallet: Wallet): Promise<bigint> => {
    await wallet.scan();
    const settled = wallet.history().filter(({ kind, state }) => kind === "payment" && state === "settled");
    return settled.reduce((sum, { amount }) => sum + amount, 0n);
  };

  describe("does not pay twice for", () => {
    let wallet: Wallet;
    let scheme: SottoScheme;
    let lose: "before" | "after" | undefined;
    let pay: Fetch;
    const lossy: Fetch = async (input, init) => {
      const carries = new Request(input, init).headers.has("payment-signature");
      if (carries && lose === "before") throw new TypeError("the request was lost");
      const response = await fetch(input, init);
      if (carries && lose === "after") throw new TypeError("the answer was lost");
      return response;
    };

    beforeEach(async () => {
      wallet = await payerWith(world, [PRICE, PRICE, PRICE]);
      scheme = await schemeOf(wallet);
      pay = wrapFetchWithPayment(scheme.track(lossy), clientOf(scheme));
    });
    afterEach(() => {
      lose = undefined;
    });

    it("one challenge that is answered repeatedly or concurrently", async () => {
      const client = clientOf(scheme);
      const challenge = await required();
      const [first, second] = await Promise.all([challenge, challenge].map((one) => client.createPaymentPayload(one)));
      const third = await client.createPaymentPayload(structuredClone(challenge));
      expect(second!.payload).to.deep.equal(first!.payload);
      expect(third.payload).to.deep.equal(first!.payload);
      const other = await client.createPaymentPayload(await required());
      expect(other.payload["publicSignals"]).to.not.deep.equal(first!.payload["publicSignals"]);
      expect(wallet.balance().held).to.equal(2n * PRICE);
    });

    it("a payment that a proxy refused: the next request presents it again", async () => {
      let refusal = 0;
      const proxied: Fetch = async (input, init) => {
        const carries = new Request(input, init).headers.has("payment-signature");
        return carries && refusal !== 0 ? new Response(null, { status: refusal }) : fetch(input, init);
      };
      const paying = wrapFetchWithPayment(scheme.track(proxied), clientOf(scheme));
      for (const status of [408, 421, 425, 429, 431]) {
        refusal = status;
        expect((await paying(url)).status).to.equal(status);
      }
      refusal = 0;
      expect((await paying(url)).status).to.equal(200);
      expect(wallet.history().length).to.equal(1);
    });

    it("a lost request: the next one presents the same payment", async () => {
      lose = "before";
      expect((await failure(pay(url))).message).to.match(/the request was lost/);
      lose = undefined;
      expect((await pay(url)).status).to.equal(200);
      expect(wallet.history().length).to.equal(1);
    });

    it("a lost response: the server reports that the payment was already used", async () => {
      lose = "after";
      const before = server.served();
      await failure(pay(url));
      lose = undefined;
      const again = await pay(url);
      expect([again.status, decode(again.headers.get("payment-response"))["errorReason"]]).to.deep.equal([
        ...[402, "sotto_payment_used"],
      ]);
      expect([server.served() - before, await spent(wallet)]).to.deep.equal([1, PRICE]);
    });

    it("a handler that failed", async () => {
      server.handler = (_request, response) => void response.status(500).json({});
      expect((await pay(url)).status).to.equal(500);
      server.handler = (_request, response) => void response.json({ report: "paid" });
      expect((await pay(url)).status).to.equal(200);
      expect(wallet.history().length).to.equal(1);
      // After a successful response, the next request is a new purchase.
      expect((await pay(url)).status).to.equal(200);
      expect(await spent(wallet)).to.equal(2n * PRICE);
    });

    it("a pending settlement: the same payment is presented again automatically", async () => {
      let asked = 0;
      between.trouble = async (path, forward) => {
        if (path.endsWith("/settle")) asked += 1;
        if (asked > 2 || !path.endsWith("/settle")) return forward();
        const pending = { success: false, errorReason: "settlement_pending", transaction: `0x${"cd".repeat(32)}` };
        return { status: 202, body: JSON.stringify({ ...pending, network: scheme.network }) };
      };
      expect((await pay(url)).status).to.equal(200);
      expect([asked, wallet.history().length]).to.deep.equal([3, 1]);
    });

    it("a payer that died before delivery", async () => {
      const seed = seedFromWords(createSeedWords());
      const store = new MemoryStore();
      const first = await openWallet(world, { seed, store });
      await fund(world, first, [PRICE, PRICE]);
      const before = await schemeOf(first);
      lose = "before";
      await failure(wrapFetchWithPayment(before.track(lossy), clientOf(before))(url));
      lose = undefined;
      // Another process on the same store, before and after the scheme returned the payment.
      const second = await openWallet(world, { seed, store });
      const after = await schemeOf(second);
      expect((await wrapFetchWithPayment(after.track(lossy), clientOf(after))(url)).status).to.equal(200);
      expect([second.history().length, await spent(second)]).to.deep.equal([1, PRICE]);
    });

    it("an old payment that may still settle: another attempt spends the same note", async () => {
      let ahead = 0;
      const patient = await openLater(() => ahead);
      await fund(world, patient, [PRICE, PRICE]);
      const client = clientOf(await schemeOf(patient));
      const given = async (by: x402Client) => (await by.createPaymentPayload(await required())).payload;
      const nullifierOf = ({ publicSignals }: Record<string, unknown>) => (publicSignals as string[])[6];
      const first = await given(client);
      for (const seconds of [200, 400, 4_000]) {
        ahead = seconds * 1000;
        // After a restart, because the previous process lost the payment that it had returned.
        const next = await given(clientOf(await schemeOf(patient)));
        expect(nullifierOf(next)).to.equal(nullifierOf(first));
        expect(next["timestamp"]).to.be.greaterThan(Number(first["timestamp"]));
      }
      expect(patient.history().length).to.equal(1);
    });

    it("a settled payment whose proof expired: the payer gets one error", async () => {
      let ahead = 0;
      const late = await openLater(() => ahead);
      await fund(world, late, [PRICE, PRICE]);
      const slow = await schemeOf(late);
      const paying = wrapFetchWithPayment(slow.track(lossy), clientOf(slow));
      lose = "after";
      await failure(paying(url));
      lose = undefined;
      await until(async () => (await spent(late)) === PRICE);
      ahead = 400_000;
      expect((await failure(paying(url))).message).to.match(/can no longer be presented/);
      ahead = 0;
      expect((await paying(url)).status).to.equal(200);
    });
  });

  it("does not present a payment to a redirect's target", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const scheme = await schemeOf(wallet);
    const asked: string[] = [];
    const redirecting: Fetch = async (input, init) => {
      const request = new Request(input, init);
      asked.push(request.redirect);
      return fetch(request);
    };
    const pay = wrapFetchWithPayment(scheme.track(redirecting), clientOf(scheme));
    expect((await pay(url)).status).to.equal(200);
    expect(asked).to.deep.equal(["follow", "error"]);
  });
});
