// A payer with the published client does not pay servers that lie about the recipient, the pool, the amount or the resource.

import { BASE8, encodeShieldedAddress } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, payerWith } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import type { SottoScheme } from "@sotto/x402/client";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { wrapFetchWithPayment } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import * as undici from "undici";
import { openMiddleman } from "./support/middleman.ts";
import { encode, signRecipient } from "./support/resource-server.ts";
import { clientOf, failure, openSelling, PRICE, type Selling } from "./support/selling.ts";

type Fetch = typeof fetch;

describe("a payer with the published @x402/fetch does not pay", function () {
  slow(this, "a chain, a service and proofs");
  let selling: Selling;
  let world: Selling["world"];
  let merchant: Selling["merchant"];
  let recipient: Selling["recipient"];
  let server: Selling["server"];
  let url: Selling["url"];
  let schemeOf: Selling["schemeOf"];
  let required: Selling["required"];
  let wallet: Wallet;
  let scheme: SottoScheme;
  before(async () => {
    selling = await openSelling();
    ({ world, merchant, recipient, server, url, schemeOf, required } = selling);
    wallet = await payerWith(world, [5n * PRICE]);
    scheme = await schemeOf(wallet);
  });
  afterEach(() => expect(wallet.history()).to.deep.equal([]));
  after(() => selling.close());

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

  it("a recipient whose wallet did not sign the shielded address", async () => {
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

  it("a recipient whose signature is for another pool, or expired", async () => {
    const elsewhere = { ...world, pool: world.token };
    const signed = await signRecipient(elsewhere, Account.createRandom(), merchant.shieldedAddress);
    const { wallet: payTo, ...rest } = signed;
    const lie = (accepted: PaymentRequirements) => ({ payTo, extra: { ...accepted.extra, recipient: rest } });
    expect(await refusal(lie)).to.include({ code: "X402_RECIPIENT_NOT_SIGNED" });
    const later = await openWallet(world, { clock: () => Date.now() + 401 * 86_400_000 });
    const client = clientOf(await schemeOf(later));
    expect(await refusal(() => ({}), client)).to.include({ code: "X402_RECIPIENT_NOT_SIGNED" });
  });

  it("in another pool, token or service than the payer's", async () => {
    expect(await refusal(extra({ pool: world.token }))).to.include({ code: "X402_POOL_FOREIGN" });
    expect(await refusal(extra({ decimals: 18 }))).to.include({ code: "X402_POOL_FOREIGN" });
    expect(await refusal(extra({ service: "https://evil.example/zk" }))).to.include({
      code: "X402_SERVICE_NOT_ALLOWED",
    });
    expect(await refusal(extra({ service: "evil" }))).to.include({ code: "X402_SERVICE_NOT_ALLOWED" });
    expect((await refusal(() => ({ asset: world.pool }))).message).to.match(/spendControls/);
    expect((await refusal(() => ({ network: "eip155:1" }))).message).to.match(/No network\/scheme registered/);
  });

  it("above the spend controls of the published client", async () => {
    expect((await refusal(() => ({ amount: String(PRICE + 1n) }))).message).to.match(/maxAmountPerPayment \(\$1/);
    const client = clientOf(scheme).setSpendControls({ maxAmountPerPayment: "$0.99" });
    expect((await refusal(() => ({}), client)).message).to.match(/maxAmountPerPayment/);
    const [accepted] = (await offered(() => ({}))).accepts;
    const direct = scheme.createPaymentPayload(2, accepted!, { maxAmountPerPayment: "999999" });
    expect(await failure(direct)).to.include({ code: "X402_LIMIT_EXCEEDED" });
  });

  it("for malformed requirements", async () => {
    const codes = async (change: (accepted: PaymentRequirements) => object) => (await refusal(change)).code;
    expect(await codes(extra({ recipient: undefined }))).to.equal("X402_REQUIREMENTS_INVALID");
    expect(await codes(extra({ resource: "" }))).to.equal("X402_REQUIREMENTS_INVALID");
    expect(await codes(() => ({ amount: "0" }))).to.equal("X402_REQUIREMENTS_INVALID");
    expect(await codes(() => ({ payTo: "me" }))).to.equal("X402_REQUIREMENTS_INVALID");
    const [accepted] = (await required()).accepts;
    expect(await failure(scheme.createPaymentPayload(1, accepted!))).to.include({ code: "X402_OPTION_INVALID" });
  });

  it("for a body that the platform turns into the text of an object", async () => {
    const form = new undici.FormData();
    form.append("text", "value");
    const body = form as unknown as BodyInit;
    const json = {
      method: "POST",
      body: { a: 1 } as unknown as BodyInit,
      headers: { "content-type": "application/json" },
    };
    const tracked = scheme.track(fetch);
    // The published client makes a Request of the body before it calls the tracked fetch.
    for (const send of [tracked, wrapFetchWithPayment(tracked, clientOf(scheme))])
      for (const init of [{ method: "POST", body }, json])
        expect(await failure(send(url, init))).to.include({ code: "REQUEST_NOT_SUPPORTED" });
    expect(await failure(tracked(new undici.Request(url) as unknown as Request))).to.include({
      code: "REQUEST_NOT_SUPPORTED",
    });
    // The control: the platform's form reaches the server, which asks for a payment.
    const own = new FormData();
    own.append("text", "value");
    for (const init of [
      { method: "POST", body: own },
      { method: "POST", body: "[object]" },
    ])
      expect((await tracked(url, init)).status).to.equal(402);
  });

  it("for a different origin than requested, or across a redirect", async () => {
    const challenge = encode(await required());
    const liar = await openMiddleman(server.origin);
    const pay = wrapFetchWithPayment(scheme.track(fetch), clientOf(scheme));
    // A server in between that forwards the real server's challenge; the payment would be valid at the real one.
    const handsOn: Fetch = async (input, init) => {
      const { url: asked } = new Request(input, init);
      const response = new Response("{}", { status: 402, headers: { "payment-required": challenge } });
      return Object.defineProperty(response, "url", { value: asked });
    };
    const fooled = wrapFetchWithPayment(scheme.track(handsOn), clientOf(scheme));
    expect(await failure(fooled(`${liar.url}/report`))).to.include({ code: "X402_RESOURCE_ELSEWHERE" });
    await liar.close();
    // Another server redirects to the real one.
    const led = wrapFetchWithPayment(
      scheme.track(async () => fetch(url)),
      clientOf(scheme),
    );
    const elsewhere = await failure(led("https://elsewhere.example/report"));
    expect(elsewhere).to.include({ code: "X402_RESOURCE_ELSEWHERE" });
    expect((await pay(`${server.origin}/health`)).status).to.equal(200);
  });
});
