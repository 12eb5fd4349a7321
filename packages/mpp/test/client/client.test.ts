import { createHash } from "node:crypto";
import { type Offer, privatePayment, quotePayment, type WrapOptions, wrapFetch } from "@sotto/client";
import { addMonths, monthEnd, parseMonth } from "@sotto/protocol";
import { expectRejected, rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { openMonthScene } from "../../../client/test/support/month-merchant.ts";
import { ORIGIN, openScene } from "../../../client/test/support/scene.ts";
import { type MppOptions, mpp, type ReceivedReceipt } from "../../src/client.ts";
import {
  encodeChallenge,
  encodeCharge,
  MAX_CREDENTIAL_LENGTH,
  type MppChallenge,
  parseChallenges,
  parseCharge,
} from "../../src/index.ts";
import { MppMerchant } from "./support/mpp-merchant.ts";

const optionsOf = ({ scene }: MppMerchant, options: MppOptions = {}, changes: Partial<WrapOptions> = {}) =>
  scene.terms({ methods: [mpp(options)], ...changes }) as WrapOptions;

const paying = (server: MppMerchant, options: MppOptions = {}, changes: Partial<WrapOptions> = {}) =>
  wrapFetch(server.scene.merchant.fetch, server.scene.payer as never, optionsOf(server, options, changes));

/** A server whose 402 has an x402-zk challenge beside that of MPP. */
async function besideX402(): Promise<MppMerchant> {
  const server = await MppMerchant.open();
  const { merchant } = server.scene;
  const { misbehave } = merchant;
  merchant.misbehave = async (seen, answer) => {
    let own: Response | undefined;
    const response = (await misbehave(seen, async () => {
      own = await answer();
      return own.clone();
    }))!;
    if (response.status !== 402) return response;
    const challenge = `x402-zk, ${response.headers.get("www-authenticate")}`;
    return new Response(own!.body, { status: 402, headers: { "www-authenticate": challenge } });
  };
  return server;
}

/** A challenge of another method, with a comma and a quote in its texts. */
const OTHER =
  'Payment id="1", realm="a, Payment b=\\"c\\"", method="tempo", intent="charge", request="e30", expires="2030-01-01T00:00:00Z"';

const JANUARY = parseMonth("2027-01");
const FEBRUARY = addMonths(JANUARY, 1);

describe("paying at a server that speaks MPP", () => {
  it("pays the challenge of the method sotto, and shows the realm to the program", async () => {
    const server = await MppMerchant.open();
    const offers: Offer[] = [];
    const received: ReceivedReceipt[] = [];
    const confirmPayment = (offer: Offer) => offers.push(offer) > 0;
    server.challenge = { description: "a weather report" };
    const pay = paying(server, { onReceipt: (one) => received.push(one) }, { confirmPayment });
    expect(await (await pay(`${ORIGIN}/a`)).text()).to.equal("served /a");
    expect(offers[0]).to.deep.include({
      price: 10n,
      stated: { realm: "the realm", description: "a weather report" },
    });
    const [{ receipt, problem, txSignature, resource }] = received as [ReceivedReceipt];
    expect([problem, resource, receipt?.reference, receipt?.challengeId]).to.deep.equal([
      undefined,
      `${ORIGIN}/a`,
      txSignature,
      "id-1",
    ]);
    const value = server.scene.merchant.seen.at(-1)!.headers.get("authorization")!;
    expect(value).to.match(/^Payment [A-Za-z0-9_-]+$/);
    expect(value.length).to.be.below(MAX_CREDENTIAL_LENGTH);
    expect(await server.scene.paid()).to.equal(10n);
  });

  it("finds its challenge among others, other schemes and malformed ones", async () => {
    const around: ((own: string) => string)[] = [
      (own) => `${OTHER}, ${own}`,
      (own) => `${own}, ${OTHER}`,
      (own) => `Basic realm="x", ${own}, Bearer`,
      (own) => `Payment, ${own}`,
      (own) => `Payment id=, ${own}`,
      (own) => `${own.replace('realm="the realm"', 'realm="a", realm="b"')}, ${own}`,
      (own) => `${own.replace("charge", "session")}, ${own}`,
      (own) => `${own.replace(/request="[^"]+"/, 'request="!!!"')}, ${own}`,
      (own) => `${own.replace(/request="[^"]+"/, 'request="e30"')}, ${own}`,
      (own) => `PAYMENT${own.slice(7)}`,
    ];
    for (const header of around) {
      const server = await MppMerchant.open();
      server.header = header;
      expect(await (await paying(server)(`${ORIGIN}/a`)).text(), header("OWN")).to.equal("served /a");
      expect(await server.scene.paid()).to.equal(10n);
    }
  });

  it("chooses the challenge for its own token, and pays a purchase with a key", async () => {
    const server = await MppMerchant.open();
    server.header = (own) => {
      const { request, ...rest } = parseChallenges(own)[0]!;
      const other = encodeCharge({ ...parseCharge(request), asset: `0x${"1".repeat(40)}` });
      return `${encodeChallenge({ ...rest, id: "other", request: other })}, ${own}`;
    };
    expect(await (await paying(server)(`${ORIGIN}/a`, { sotto: { key: "once" } })).text()).to.equal("served /a");
    expect(server.credentials.map(({ challenge }) => challenge.id)).to.deep.equal(["id-1"]);
    expect(await server.scene.paid()).to.equal(10n);
  });

  it("pays for the URL of the request if the challenge names none", async () => {
    const server = await MppMerchant.open();
    server.terms = ({ metadata }) => Object.assign(metadata, { resource: undefined });
    expect(await (await paying(server)(`${ORIGIN}/a`)).text()).to.equal("served /a");
    expect(parseCharge(server.credentials[0]!.challenge.request).resource).to.equal(undefined);
  });

  it("leaves a 402 to the caller that offers only other methods, is malformed or is too long", async () => {
    const wrong: ((own: string) => string)[] = [
      () => OTHER,
      () => 'Bearer realm="x"',
      () => "Payment",
      () => `Payment ${"x".repeat(100)}`,
      (own) => own.replace("id=", "ID2="),
      (own) => own.replace('id="id-1"', 'id="a\\u000d\\u000aSet-Cookie: b"'),
      (own) => own.replace("sotto", "SOTTO"),
      (own) => `${own}, x="${"y".repeat(100_000)}"`,
      (own) => `x="${"y".repeat(100_000)}", ${own}`,
      (own) => own.replace(/"$/, ""),
      (own) => own.replace(/realm="[^"]*"/, `realm="${"r".repeat(9_000)}"`),
    ];
    for (const header of wrong) {
      const server = await MppMerchant.open();
      server.header = header;
      const response = await paying(server)(`${ORIGIN}/a`);
      expect([response.status, await response.text()], header("OWN").slice(0, 60)).to.deep.equal([402, "pay"]);
      expect([await server.scene.paid(), server.scene.merchant.seen.length]).to.deep.equal([0n, 1]);
    }
  });

  it("refuses challenges that it could not answer, before anything is paid", async () => {
    const encoded = (value: string) => Buffer.from(value).toString("base64url");
    const deep = `{"amount":${"[".repeat(2_000)}${"]".repeat(2_000)}}`;
    const wrong: [string, Partial<MppChallenge>][] = [
      ["MPP_CHALLENGE_EXPIRED", { expires: undefined }],
      ["MPP_CHALLENGE_EXPIRED", { expires: "1969-12-31T23:59:59Z" }],
      ["MPP_CHALLENGE_EXPIRED", { expires: "2030-13-01T00:00:00Z" }],
      ["MPP_DIGEST_MISMATCH", { digest: "sha-256=:AAAA:" }],
      ["MPP_HEADER_UNKNOWN", { header: "Cookie" }],
      ["MPP_HEADER_UNKNOWN", { header: "X-Payment-Proof" }],
      ["MPP_REQUEST_INVALID", { request: encoded("{}") }],
      ["MPP_REQUEST_INVALID", { request: encoded("[]") }],
      ["MPP_REQUEST_INVALID", { request: encoded("nonsense") }],
      ["MPP_REQUEST_INVALID", { request: encoded(deep) }],
      ["MPP_REQUEST_INVALID", { request: encoded('{"__proto__":{"amount":"1"},"methodDetails":{}}') }],
      ["MPP_REQUEST_INVALID", { request: "AB" }],
      ["PROOF_HEADER_TOO_LONG", { opaque: "o".repeat(4_000) }],
      ["MPP_CREDENTIAL_INVALID", { opaque: "o".repeat(7_000) }],
    ];
    for (const [code, challenge] of wrong) {
      const server = await MppMerchant.open();
      server.challenge = challenge;
      await expectRejected(code, () => paying(server)(`${ORIGIN}/a`));
      expect([await server.scene.paid(), server.credentials]).to.deep.equal([0n, []]);
    }
    expect(Object.prototype).to.not.have.property("amount");
    const far = await MppMerchant.open();
    far.challenge = { expires: "9999-12-31T23:59:59Z", opaque: "o".repeat(500) };
    await paying(far)(`${ORIGIN}/a`);
    expect(await far.scene.paid(), "the control").to.equal(10n);
  });

  it("measures the time that is left by the server's clock, and refuses a wrong one", async () => {
    for (const [skew, code] of [
      [-100_000, "SERVER_CLOCK_WRONG"],
      [100_000, "MPP_CHALLENGE_EXPIRED"],
    ] as const) {
      const server = await MppMerchant.open();
      const { merchant, world } = server.scene;
      const { misbehave } = merchant;
      server.challenge = { expires: new Date(world.clock() + 120_000).toISOString() };
      merchant.misbehave = async (seen, answer) => {
        const response = (await misbehave(seen, answer))!;
        response.headers.set("date", new Date(world.clock() + skew).toUTCString());
        return response;
      };
      await expectRejected(code, () => paying(server)(`${ORIGIN}/a`));
      expect(await server.scene.paid()).to.equal(0n);
    }
  });

  it("answers a digest of its own body, as RFC 9530 or mppx write it", async () => {
    const body = JSON.stringify({ city: "lima" });
    const hash = createHash("sha256").update(body).digest("base64");
    for (const digest of [`sha-256=:${hash}:`, `sha-256=${hash}`]) {
      const server = await MppMerchant.open();
      server.challenge = { digest };
      await paying(server)(`${ORIGIN}/a`, { method: "POST", body });
      await expectRejected("MPP_DIGEST_MISMATCH", () => paying(server)(`${ORIGIN}/a`, { method: "POST", body: "{}" }));
      expect(await server.scene.paid()).to.equal(10n);
    }
  });

  it("keeps the program's Authorization if the server takes credentials elsewhere, and pays nothing if not", async () => {
    const headers = { authorization: "Bearer secret" };
    const taken = await MppMerchant.open();
    await expectRejected("HEADER_TAKEN", () => paying(taken)(`${ORIGIN}/a`, { headers }));
    expect(await taken.scene.paid()).to.equal(0n);
    const server = await MppMerchant.open();
    server.challenge = { header: "payment-authorization" };
    await paying(server)(`${ORIGIN}/a`, { headers });
    const sent = server.scene.merchant.seen.at(-1)!.headers;
    expect([sent.get("authorization"), sent.has("payment-authorization")]).to.deep.equal(["Bearer secret", true]);
    expect(await server.scene.paid()).to.equal(10n);
  });

  it("sends Accept-Payment only if an option says so, because every server sees it", async () => {
    const server = await MppMerchant.open();
    await paying(server)(`${ORIGIN}/a`);
    await paying(server, { acceptPayment: true })(`${ORIGIN}/a`);
    const sent = server.scene.merchant.seen.map(({ headers }) => headers.get("accept-payment"));
    expect(sent).to.deep.equal([null, null, "sotto/charge", "sotto/charge"]);
  });

  it("pays once if the challenge expired in the meantime: the proof answers the new one", async () => {
    const server = await MppMerchant.open();
    server.accepts = ({ id }) => id === "id-2";
    expect(await (await paying(server)(`${ORIGIN}/a`)).text()).to.equal("served /a");
    expect(server.credentials.map(({ challenge }) => challenge.id)).to.deep.equal(["id-1", "id-2"]);
    expect(server.credentials[0]!.payload).to.deep.equal(server.credentials[1]!.payload);
    expect(await server.scene.paid()).to.equal(10n);
  });

  it("never pays twice at a server that asks again, for more, for another recipient or elsewhere", async () => {
    const other = await openScene();
    const later: ((terms: Parameters<MppMerchant["terms"]>[0]) => void)[] = [
      () => undefined,
      ({ payment }) => Object.assign(payment, { amount: 0.000009, amountBaseUnits: "9" }),
      ({ payment }) => {
        payment.recipient["wallet"] = other.merchant.account.address.toLowerCase();
      },
      ({ metadata }) => {
        metadata.resource = `${ORIGIN}/b`;
      },
    ];
    for (const [index, change] of later.entries()) {
      const server = await MppMerchant.open();
      server.accepts = () => false;
      server.terms = (terms) => void (server.credentials.length > 0 && change(terms));
      for (let call = 0; call < 3; call += 1)
        await expectRejected("PAID_BUT_REFUSED", () => paying(server)(`${ORIGIN}/a`));
      expect(server.credentials).to.have.length(index === 0 ? 2 : 1);
      expect(await server.scene.paid()).to.equal(10n);
    }
  });

  it("follows the address schedule that a challenge names", async () => {
    const scene = await openMonthScene([JANUARY, FEBRUARY]);
    const { merchant, payer } = scene;
    const server = new MppMerchant(scene);
    await paying(server)(`${ORIGIN}/a`);
    expect(merchant.fetched).to.have.length(1);
    for (const [asked, code] of [
      [FEBRUARY, "ADDRESS_OUTSIDE_MONTH"],
      ["lasting", "ADDRESS_NOT_LISTED"],
    ] as const) {
      merchant.asked = asked;
      await expectRejected(code, () => paying(server)(`${ORIGIN}/b`));
    }
    merchant.follows = undefined;
    await expectRejected("ADDRESS_NOT_LISTED", () => paying(server)(`${ORIGIN}/b`));
    const entries = await payer.payments({ decimals: 6 });
    expect(entries.map(({ recipientAddress }) => recipientAddress)).to.deep.equal([merchant.addressOf(JANUARY)]);
  });

  it("answers a challenge that names the address of the next month with the proof that it has", async () => {
    const scene = await openMonthScene([JANUARY, FEBRUARY]);
    const server = new MppMerchant(scene);
    scene.world.chain.time = monthEnd(JANUARY) / 1000 - 20;
    server.accepts = ({ id }) => {
      // The month ended while the payment settled.
      scene.merchant.asked = FEBRUARY;
      return id === "id-2";
    };
    expect(await (await paying(server)(`${ORIGIN}/a`)).text()).to.equal("served /a");
    const [first, second] = server.credentials;
    expect(first!.payload).to.deep.equal(second!.payload);
    const keys = server.credentials.map(({ challenge }) => parseCharge(challenge.request).binding.key);
    expect(keys).to.deep.equal([JANUARY, FEBRUARY].map((month) => scene.merchant.addressOf(month)));
    expect(await scene.paid()).to.equal(10n);
  });

  it("refuses another recipient under the same realm, because it pins the host", async () => {
    const server = await MppMerchant.open();
    await paying(server)(`${ORIGIN}/a`);
    const other = await openScene({}, server.scene.world);
    const { misbehave } = server.scene.merchant;
    server.scene.merchant.misbehave = (seen) => misbehave(seen, () => other.merchant.fetch(ORIGIN + seen.target));
    const error = await rejection(paying(server)(`${ORIGIN}/b`));
    expect(error.code).to.equal("RECIPIENT_CHANGED");
    expect(await server.scene.paid()).to.equal(10n);
  });

  it("refuses a challenge of another origin, to which the request was redirected", async () => {
    const server = await MppMerchant.open();
    const { misbehave } = server.scene.merchant;
    server.scene.merchant.misbehave = async (seen, answer) => {
      const response = (await misbehave(seen, answer))!;
      Object.defineProperty(response, "redirected", { value: true });
      Object.defineProperty(response, "url", { value: "https://thief.example/a" });
      return response;
    };
    await expectRejected("CHALLENGE_REDIRECTED", () => paying(server)(`${ORIGIN}/a`));
    expect([await server.scene.paid(), server.credentials]).to.deep.equal([0n, []]);
  });

  it("tells a receipt for this payment from a missing, malformed or foreign one", async () => {
    const found: (string | undefined)[] = [];
    const receipts: MppMerchant["receipt"][] = [
      null,
      "e30",
      "!",
      `${"x".repeat(20_000)}`,
      { reference: `0x${"1".repeat(64)}` },
      { challengeId: "id-9" },
      {},
      { challengeId: undefined },
    ];
    for (const receipt of receipts) {
      const server = await MppMerchant.open();
      server.receipt = receipt;
      const onReceipt = ({ problem }: ReceivedReceipt) => void found.push(problem);
      expect(await (await paying(server, { onReceipt })(`${ORIGIN}/a`)).text()).to.equal("served /a");
    }
    const failing = await MppMerchant.open();
    const { misbehave } = failing.scene.merchant;
    failing.receipt = null;
    failing.scene.merchant.misbehave = async (seen, answer) => {
      const response = (await misbehave(seen, answer))!;
      return response.status === 402 ? response : new Response("gone", { status: 404 });
    };
    const onReceipt = () => void found.push("an error without a receipt");
    expect((await paying(failing, { onReceipt })(`${ORIGIN}/a`)).status).to.equal(404);
    const [malformed, foreign] = ["malformed", "foreign"];
    expect(found).to.deep.equal(["missing", malformed, malformed, malformed, foreign, foreign, undefined, undefined]);
  });

  it("is chosen before or after x402-zk by its place in the list of methods", async () => {
    const server = await besideX402();
    await paying(server)(`${ORIGIN}/a`);
    expect(server.credentials).to.have.length(1);
    await paying(server, {}, { methods: [privatePayment, mpp()] })(`${ORIGIN}/a`);
    await paying(server, {}, { methods: [] })(`${ORIGIN}/a`);
    expect(server.credentials).to.have.length(1);
    expect(await server.scene.paid()).to.equal(30n);
  });

  it("leaves it to x402-zk in the same 402 if the challenge cannot be paid", async () => {
    const wrong: Partial<MppChallenge>[] = [
      { expires: "1969-12-31T23:59:59Z" },
      { digest: "sha-256=:AAAA:" },
      { header: "Cookie" },
      { request: "e30" },
      { opaque: "o".repeat(4_000) },
      { opaque: "o".repeat(7_000) },
    ];
    const server = await besideX402();
    const { merchant, payer } = server.scene;
    for (const [index, challenge] of wrong.entries()) {
      server.challenge = challenge;
      const { offer } = await quotePayment(merchant.fetch, payer as never, optionsOf(server), `${ORIGIN}/a`);
      expect([offer?.price, offer?.stated]).to.deep.equal([10n, undefined]);
      expect(await (await paying(server)(`${ORIGIN}/a`)).text()).to.equal("served /a");
      expect([await server.scene.paid(), server.credentials]).to.deep.equal([10n * BigInt(index + 1), []]);
    }
  });

  it("is not paid by x402-zk instead if a limit or the program refuses the payment", async () => {
    const server = await besideX402();
    await expectRejected("REQUEST_LIMIT_EXCEEDED", () => paying(server, {}, { maxPerRequest: 9n })(`${ORIGIN}/a`));
    let asked = 0;
    const confirmPayment = () => {
      asked += 1;
      return false;
    };
    await expectRejected("PAYMENT_DECLINED", () => paying(server, {}, { confirmPayment })(`${ORIGIN}/a`));
    expect([asked, await server.scene.paid()]).to.deep.equal([1, 0n]);
  });

  it("can be quoted without paying", async () => {
    const server = await MppMerchant.open();
    const { merchant, payer } = server.scene;
    const options = { services: ["https://pay.example/zk"], methods: [mpp()] };
    const { offer } = await quotePayment(merchant.fetch, payer as never, options, `${ORIGIN}/a`);
    expect([offer?.price, offer?.stated]).to.deep.equal([10n, { realm: "the realm" }]);
    expect(await server.scene.paid()).to.equal(0n);
  });

  it("refuses options that do not exist or have another type", () => {
    for (const options of [{ accept: true }, { acceptPayment: "yes" }, { onReceipt: 1 }])
      expect(() => mpp(options as MppOptions))
        .to.throw()
        .with.property("code", "MPP_OPTION_INVALID");
  });
});
