// What a payer is protected from, with the published client: dishonest sellers, lost answers, crashes.
import { createSeedWords, MemoryStore, seedFromWords, type Wallet } from "@sotto/client";
import { BASE8, encodeShieldedAddress } from "@sotto/protocol";
import { SottoScheme } from "@sotto/x402/client";
import type { SottoRecipient } from "@sotto/x402/server";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { fund, openWallet, openWorld, payerWith, until, type World } from "../buyer/support/world.ts";
import { type Middleman, openMiddleman } from "./support/middleman.ts";
import { decode, encode, openShop, type Shop, signRecipient } from "./support/shop.ts";

const PRICE = 1_000_000n;
type Fetch = typeof fetch;

describe("a payer with the published @x402/fetch", () => {
  let world: World;
  let merchant: Wallet;
  let recipient: SottoRecipient;
  let between: Middleman;
  let shop: Shop;
  let url: string;

  before(async () => {
    world = await openWorld();
    merchant = await openWallet(world);
    recipient = await signRecipient(world, Account.createRandom(), merchant.shieldedAddress);
    between = await openMiddleman(new URL(world.serviceUrl).origin);
    const facilitator = between.url + new URL(world.serviceUrl).pathname;
    shop = await openShop(world, recipient, facilitator, { service: world.serviceUrl });
    url = `${shop.origin}/report`;
  });
  after(async () => {
    await shop.close();
    await between.close();
  });
  afterEach(() => {
    between.trouble = (_path, answer) => answer();
    shop.handler = (_request, response) => void response.json({ report: "paid" });
  });

  const schemeOf = (wallet: Wallet) =>
    SottoScheme.open({ wallet, services: [world.serviceUrl], fundsTimeoutMs: 5_000 });
  const clientOf = (scheme: SottoScheme) => new x402Client().register(scheme.network, scheme);
  const required = async (): Promise<PaymentRequired> =>
    decode((await fetch(url)).headers.get("payment-required")) as unknown as PaymentRequired;
  const spent = async (wallet: Wallet): Promise<bigint> => {
    await wallet.scan();
    const settled = wallet.history().filter(({ kind, state }) => kind === "payment" && state === "settled");
    return settled.reduce((sum, { amount }) => sum + amount, 0n);
  };
  const failure = (promise: Promise<unknown>): Promise<Error & { code?: string; cause?: unknown }> =>
    promise.then(
      () => expect.fail("a refusal was expected"),
      (error) => error,
    );

  describe("is not paid for twice", () => {
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

    it("one challenge, however often it is answered and by however many at the same time", async () => {
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

    it("a payment that something before the seller refused: the next request shows it", async () => {
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

    it("a request that was lost on its way: the next one shows the same payment", async () => {
      lose = "before";
      expect((await failure(pay(url))).message).to.match(/the request was lost/);
      lose = undefined;
      expect((await pay(url)).status).to.equal(200);
      expect(wallet.history().length).to.equal(1);
    });

    it("an answer that was lost: the shop says that it served, and nothing is paid again", async () => {
      lose = "after";
      const before = shop.served();
      await failure(pay(url));
      lose = undefined;
      const again = await pay(url);
      expect([again.status, decode(again.headers.get("payment-response"))["errorReason"]]).to.deep.equal([
        ...[402, "sotto_payment_used"],
      ]);
      expect([shop.served() - before, await spent(wallet)]).to.deep.equal([1, PRICE]);
    });

    it("a handler that failed", async () => {
      shop.handler = (_request, response) => void response.status(500).json({});
      expect((await pay(url)).status).to.equal(500);
      shop.handler = (_request, response) => void response.json({ report: "paid" });
      expect((await pay(url)).status).to.equal(200);
      expect(wallet.history().length).to.equal(1);
      // What was answered is over: the next request is another one.
      expect((await pay(url)).status).to.equal(200);
      expect(await spent(wallet)).to.equal(2n * PRICE);
    });

    it("a settlement that is pending: the same payment is shown once more by itself", async () => {
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

    it("what a payer that died was about to get", async () => {
      const seed = seedFromWords(createSeedWords());
      const store = new MemoryStore();
      const first = await openWallet(world, { seed, store });
      await fund(world, first, [PRICE, PRICE]);
      const before = await schemeOf(first);
      lose = "before";
      await failure(wrapFetchWithPayment(before.track(lossy), clientOf(before))(url));
      lose = undefined;
      // Another process on the same store, before and after the payment was given out.
      const second = await openWallet(world, { seed, store });
      const after = await schemeOf(second);
      expect((await wrapFetchWithPayment(after.track(lossy), clientOf(after))(url)).status).to.equal(200);
      expect([second.history().length, await spent(second)]).to.deep.equal([1, PRICE]);
    });

    it("what was lost long ago and may yet be settled: another attempt takes the same note", async () => {
      let ahead = 0;
      const patient = await openWallet(world, { clock: () => Date.now() + ahead });
      await fund(world, patient, [PRICE, PRICE]);
      const client = clientOf(await schemeOf(patient));
      const given = async (by: x402Client) => (await by.createPaymentPayload(await required())).payload;
      const nullifierOf = ({ publicSignals }: Record<string, unknown>) => (publicSignals as string[])[6];
      const first = await given(client);
      for (const seconds of [200, 400, 4_000]) {
        ahead = seconds * 1000;
        // A process that was started anew: what the one before gave out was lost with it.
        const next = await given(clientOf(await schemeOf(patient)));
        expect(nullifierOf(next)).to.equal(nullifierOf(first));
        expect(next["timestamp"]).to.be.greaterThan(Number(first["timestamp"]));
      }
      expect(patient.history().length).to.equal(1);
    });

    it("what was paid and can be shown no more: the payer is told, once", async () => {
      let ahead = 0;
      const late = await openWallet(world, { clock: () => Date.now() + ahead });
      await fund(world, late, [PRICE, PRICE]);
      const slow = await schemeOf(late);
      const paying = wrapFetchWithPayment(slow.track(lossy), clientOf(slow));
      lose = "after";
      await failure(paying(url));
      lose = undefined;
      await until(async () => (await spent(late)) === PRICE);
      ahead = 301_000;
      expect((await failure(paying(url))).message).to.match(/too old to be shown/);
      ahead = 0;
      expect((await paying(url)).status).to.equal(200);
    });
  });

  describe("pays nobody", () => {
    let wallet: Wallet;
    let scheme: SottoScheme;
    before(async () => {
      wallet = await payerWith(world, [5n * PRICE]);
      scheme = await schemeOf(wallet);
    });
    afterEach(() => expect(wallet.history()).to.deep.equal([]));

    const offered = async (change: (accepted: PaymentRequirements) => object): Promise<PaymentRequired> => {
      const challenge = await required();
      const [accepted] = challenge.accepts;
      return { ...challenge, accepts: [{ ...accepted!, ...change(accepted!) }] };
    };
    const refusal = async (change: (accepted: PaymentRequirements) => object, client = clientOf(scheme)) =>
      failure(client.createPaymentPayload(await offered(change)));
    const extra = (changes: object) => (accepted: PaymentRequirements) => ({
      extra: { ...accepted.extra, ...changes },
    });

    it("whose wallet did not sign the address that would be paid", async () => {
      const { shieldedAddress, signature, issuedAt } = recipient;
      const thief = encodeShieldedAddress({ encryptionKey: BASE8, ownerTag: 7n });
      const other = await signRecipient(world, Account.createRandom(), shieldedAddress);
      const lies = [
        { shieldedAddress: thief, signature, issuedAt },
        { shieldedAddress, signature: other.signature, issuedAt },
        { shieldedAddress, signature, issuedAt: issuedAt - 300 },
        { shieldedAddress, signature, issuedAt, service: "https://registry.example" },
        { shieldedAddress, signature: `0x${"00".repeat(65)}`, issuedAt },
      ];
      for (const lie of lies)
        expect(await refusal(extra({ recipient: lie }))).to.include({ code: "X402_RECIPIENT_NOT_SIGNED" });
      expect(await refusal(() => ({ payTo: other.wallet }))).to.include({ code: "X402_RECIPIENT_NOT_SIGNED" });
    });

    it("whose signature is for another pool, or has expired", async () => {
      const elsewhere = { ...world, pool: world.token };
      const signed = await signRecipient(elsewhere, Account.createRandom(), merchant.shieldedAddress);
      const { wallet: payTo, ...rest } = signed;
      const lie = (accepted: PaymentRequirements) => ({ payTo, extra: { ...accepted.extra, recipient: rest } });
      expect(await refusal(lie)).to.include({ code: "X402_RECIPIENT_NOT_SIGNED" });
      const later = await openWallet(world, { clock: () => Date.now() + 401 * 86_400_000 });
      const client = clientOf(await schemeOf(later));
      expect(await refusal(() => ({}), client)).to.include({ code: "X402_RECIPIENT_NOT_SIGNED" });
    });

    it("in a pool, a token or at a service that is not the payer's", async () => {
      expect(await refusal(extra({ pool: world.token }))).to.include({ code: "X402_POOL_FOREIGN" });
      expect(await refusal(extra({ decimals: 18 }))).to.include({ code: "X402_POOL_FOREIGN" });
      expect(await refusal(extra({ service: "https://evil.example/zk" }))).to.include({
        code: "X402_SERVICE_NOT_ALLOWED",
      });
      expect(await refusal(extra({ service: "evil" }))).to.include({ code: "X402_SERVICE_NOT_ALLOWED" });
      expect((await refusal(() => ({ asset: world.pool }))).message).to.match(/spendControls/);
      expect((await refusal(() => ({ network: "eip155:1" }))).message).to.match(/No network\/scheme registered/);
    });

    it("more than the spend controls of the published client allow", async () => {
      expect((await refusal(() => ({ amount: String(PRICE + 1n) }))).message).to.match(/maxAmountPerPayment \(\$1/);
      const client = clientOf(scheme).setSpendControls({ maxAmountPerPayment: "$0.99" });
      expect((await refusal(() => ({}), client)).message).to.match(/maxAmountPerPayment/);
      const [accepted] = (await offered(() => ({}))).accepts;
      const direct = scheme.createPaymentPayload(2, accepted!, { maxAmountPerPayment: "999999" });
      expect(await failure(direct)).to.include({ code: "X402_LIMIT_EXCEEDED" });
    });

    it("who asks in a form the scheme does not have", async () => {
      const codes = async (change: (accepted: PaymentRequirements) => object) => (await refusal(change)).code;
      expect(await codes(extra({ recipient: undefined }))).to.equal("X402_REQUIREMENTS_INVALID");
      expect(await codes(extra({ resource: "" }))).to.equal("X402_REQUIREMENTS_INVALID");
      expect(await codes(() => ({ amount: "0" }))).to.equal("X402_REQUIREMENTS_INVALID");
      expect(await codes(() => ({ payTo: "me" }))).to.equal("X402_REQUIREMENTS_INVALID");
      const [accepted] = (await required()).accepts;
      expect(await failure(scheme.createPaymentPayload(1, accepted!))).to.include({ code: "X402_OPTION_INVALID" });
    });

    it("for something at another origin than was asked, nor along a redirect", async () => {
      const challenge = encode(await required());
      const liar = await openMiddleman(shop.origin);
      const pay = wrapFetchWithPayment(scheme.track(fetch), clientOf(scheme));
      // A server in between that hands on the challenge of the shop: the payment would be good there.
      const handsOn: Fetch = async (input, init) => {
        const { url: asked } = new Request(input, init);
        const response = new Response("{}", { status: 402, headers: { "payment-required": challenge } });
        return Object.defineProperty(response, "url", { value: asked });
      };
      const fooled = wrapFetchWithPayment(scheme.track(handsOn), clientOf(scheme));
      expect(await failure(fooled(`${liar.url}/report`))).to.include({ code: "X402_RESOURCE_ELSEWHERE" });
      await liar.close();
      // A redirect to the shop, from whoever was asked in its place.
      const led = wrapFetchWithPayment(
        scheme.track(async () => fetch(url)),
        clientOf(scheme),
      );
      const elsewhere = await failure(led("https://elsewhere.example/report"));
      expect(elsewhere).to.include({ code: "X402_RESOURCE_ELSEWHERE" });
      expect((await pay(`${shop.origin}/health`)).status).to.equal(200);
    });
  });

  it("shows a payment to nobody a redirect leads to", async () => {
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
