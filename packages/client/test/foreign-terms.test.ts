// A way to pay that this package does not know: it reads a 402 of its own format, and presents the proof in its own header.
import { expectRejected, rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { SEED } from "../../wallet/test/support/merchant.ts";
import { dyingStore } from "../../wallet/test/support/world.ts";
import type { OpenMethod, PayingMethod } from "../src/fetch/method.ts";
import type { Offer } from "../src/fetch/offer.ts";
import { privatePayment, type WrapOptions } from "../src/fetch/options.ts";
import { quotePayment, wrapFetch } from "../src/fetch/wrap.ts";
import type { PurchaseError } from "../src/purchase/errors.ts";
import { openPurchases } from "../src/purchase/open.ts";
import { ORIGIN, openScene, type Scene } from "./support/scene.ts";

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decoded = (text: string): { word: string; proof: string; body: object } =>
  JSON.parse(Buffer.from(text, "base64url").toString());

/** Pays at servers whose 402 has the terms in `X-Word`: with them, the proof is presented in the scheme `Word`. */
const words = (changes: Partial<OpenMethod> = {}): PayingMethod => ({
  name: "words",
  headers: [{ name: "Authorization", scheme: "Word" }, "X-Word-Proof"],
  asks: { "X-Words": "yes" },
  paysKeyed: true,
  open: () => ({
    async terms(call, { headers }) {
      const [text, asked] = [headers.get("x-word"), headers.get("x-word-header")];
      if (text === null) return undefined;
      const { word, body } = decoded(text);
      expect(call.bodyHash).to.equal(undefined);
      return { instructions: body as never, header: asked ?? "Authorization", kept: word, stated: { word } };
    },
    wrap: (word, { header: proof }) => `Word ${encoded({ word, proof })}`,
    ...changes,
  }),
});

/** The body of a 402 that a test changes. */
interface Terms {
  readonly payment: Record<string, unknown> & { readonly recipient: Record<string, unknown> };
  metadata?: { resource: string; timestamp: number };
}

describe("terms of a 402 that the client does not know", () => {
  let word: string;
  let answers: { readonly word: string; readonly proof: string }[];
  let accepted: (word: string) => boolean;

  /** A merchant that takes proofs only in the newest word. @param change of its terms */
  async function open(change: (body: Terms) => void = () => undefined, headers: object = {}) {
    const scene = await openScene();
    const { merchant } = scene;
    word = "one";
    answers = [];
    accepted = () => true;
    merchant.misbehave = async (seen, answer) => {
      const paid = seen.headers.get("x-word-proof") ?? seen.headers.get("authorization");
      if (paid?.startsWith("Word ")) {
        const shown = decoded(paid.slice(5));
        answers.push(shown);
        seen.headers.set("x-payment-proof", shown.proof);
        if (accepted(shown.word)) return answer();
        seen.headers.delete("x-payment-proof");
      }
      const response = await answer();
      if (response.status !== 402) return response;
      const body = (await response.json()) as Terms;
      change(body);
      return new Response("pay", { status: 402, headers: { "x-word": encoded({ word, body }), ...headers } });
    };
    return scene;
  }

  const wrap = (scene: Scene, changes: Partial<WrapOptions> = {}) =>
    wrapFetch(scene.merchant.fetch, scene.payer, scene.terms({ methods: [words()], ...changes }));

  it("are paid privately after confirmPayment sees what the server states, and proved in the method's header", async () => {
    const scene = await open();
    const offers: Offer[] = [];
    const seen: unknown[] = [];
    const answered: OpenMethod["answered"] = (kept, { txSignature }, { status }) => {
      seen.push(kept, txSignature.slice(0, 2), status);
      throw new Error("ignored");
    };
    const confirmPayment = (offer: Offer) => offers.push(offer) > 0;
    const pay = wrap(scene, { confirmPayment, methods: [words({ answered })] });
    expect(await (await pay(`${ORIGIN}/a`, { headers: { "x-words": "mine" } })).text()).to.equal("served /a");
    await pay(`${ORIGIN}/a`, { sotto: { key: "once" } });
    await expectRejected("PURCHASE_FINISHED", () => pay(`${ORIGIN}/a`, { sotto: { key: "once" } }));
    expect(offers[0]).to.deep.include({ price: 10n, host: "data.example", stated: { word: "one" } });
    expect(seen).to.deep.equal(["one", "0x", 200, "one", "0x", 200]);
    const asked = scene.merchant.seen.map(({ headers }) => headers.get("x-words"));
    expect(asked).to.deep.equal(["mine", "mine", "yes", "yes"]);
    expect(await scene.paid()).to.equal(20n);
  });

  it("pass the checks of an x402-zk challenge before anything is paid", async () => {
    const wrong: [string, (body: Terms) => void][] = [
      ["CHALLENGE_MISMATCH", ({ payment }) => (payment["chainId"] = "1")],
      ["CHALLENGE_MISMATCH", ({ payment }) => (payment["pool"] = `0x${"1".repeat(40)}`)],
      ["CHALLENGE_MISMATCH", ({ payment }) => (payment["asset"] = `0x${"1".repeat(40)}`)],
      ["CHALLENGE_INVALID", ({ payment }) => (payment["amount"] = 0.5)],
      ["CHALLENGE_INVALID", (body) => delete body.metadata],
      ["RESOURCE_MISMATCH", ({ metadata }) => (metadata!.resource = `${ORIGIN}/b`)],
      ["ENDPOINT_NOT_ALLOWED", ({ payment }) => (payment["verifyEndpoint"] = "https://thief.example/zk/verify")],
      ["RECIPIENT_NOT_SIGNED", ({ payment }) => (payment.recipient["wallet"] = `0x${"1".repeat(40)}`)],
      ["SERVER_CLOCK_WRONG", ({ metadata }) => (metadata!.timestamp += 600_000)],
    ];
    for (const [code, change] of wrong) {
      const scene = await open(change);
      await expectRejected(code, () => wrap(scene)(`${ORIGIN}/a`));
      expect(await scene.paid()).to.equal(0n);
    }
    const scene = await open();
    await expectRejected("REQUEST_LIMIT_EXCEEDED", () => wrap(scene, { maxPerRequest: 9n })(`${ORIGIN}/a`));
    await expectRejected("DAY_LIMIT_EXCEEDED", () => wrap(scene, { maxPerDay: 9n })(`${ORIGIN}/a`));
    await expectRejected("PAYMENT_DECLINED", () => wrap(scene, { confirmPayment: () => false })(`${ORIGIN}/a`));
    expect([await scene.paid(), answers]).to.deep.equal([0n, []]);
    await wrap(scene)(`${ORIGIN}/a`);
    expect(await scene.paid(), "the control").to.equal(10n);
    const { account } = scene.merchant;
    const other = await openScene({}, scene.world);
    const stolen = scene.merchant.misbehave;
    scene.merchant.misbehave = (seen) => stolen(seen, () => other.merchant.fetch(ORIGIN + seen.target));
    const error = await rejection(wrap(scene)(`${ORIGIN}/a`));
    expect(error.details).to.include({ known: account.address.toLowerCase() });
    expect(error.code).to.equal("RECIPIENT_CHANGED");
  });

  it("leave the caller's own Authorization alone: another header is used, or nothing is paid", async () => {
    const init = { headers: { authorization: "Bearer secret" } };
    const taken = await open();
    const error = await rejection(wrap(taken)(`${ORIGIN}/a`, init));
    expect(error.code).to.equal("HEADER_TAKEN");
    expect(error.message).to.not.include("secret");
    expect(await taken.paid()).to.equal(0n);
    const scene = await open(undefined, { "x-word-header": "X-Word-Proof" });
    expect(await (await wrap(scene)(`${ORIGIN}/a`, init)).text()).to.equal("served /a");
    expect(scene.merchant.seen.map(({ headers }) => headers.get("authorization"))).to.deep.equal([
      "Bearer secret",
      "Bearer secret",
    ]);
    const undeclared = await open(undefined, { "x-word-header": "X-Other" });
    await expectRejected("METHOD_INVALID", () => wrap(undeclared)(`${ORIGIN}/a`));
    expect(await undeclared.paid()).to.equal(0n);
    const paid = { headers: { authorization: "Bearer a, word e30" } };
    await wrap(scene)(`${ORIGIN}/a`, paid).catch(() => undefined);
    expect(scene.merchant.seen.at(-1)!.headers.get("authorization"), "is sent as it is").to.equal("Bearer a, word e30");
    expect(await scene.paid()).to.equal(10n);
  });

  it("are presented once more, and not paid again, if the server asks for the same payment in new words", async () => {
    const scene = await open();
    accepted = (shown) => {
      word = "two";
      return shown === "two";
    };
    expect(await (await wrap(scene)(`${ORIGIN}/a`)).text()).to.equal("served /a");
    expect(answers.map((answer) => answer.word)).to.deep.equal(["one", "two"]);
    expect(new Set(answers.map(({ proof }) => proof)).size).to.equal(1);
    expect(await scene.paid()).to.equal(10n);

    type Asked = Record<string, string>;
    const refusals: [name: string, presented: number, change: (body: Terms, headers: Asked) => void][] = [
      ["other words each time", 2, () => undefined],
      ["the same words", 1, () => (word = "one")],
      ["another price", 1, ({ payment }) => Object.assign(payment, { amount: 0.000009, amountBaseUnits: "9" })],
      ["too short a header", 1, ({ payment }) => Object.assign(payment["zkProof"]!, { maxHeaderLength: 100 })],
      ["terms that cannot be read", 1, ({ payment }) => delete payment["verifyEndpoint"]],
      ["a header of the program", 1, (_, headers) => delete headers["x-word-header"]],
    ];
    const init = { headers: { authorization: "Bearer secret" } };
    for (const [name, presented, change] of refusals) {
      const headers: Asked = { "x-word-header": "X-Word-Proof" };
      const refusing = await open((body) => {
        if (answers.length === 0) return;
        word += "+";
        change(body, headers);
      }, headers);
      accepted = () => false;
      for (let call = 0; call < 2; call += 1)
        await expectRejected("PAID_BUT_REFUSED", () => wrap(refusing)(`${ORIGIN}/a`, init));
      expect(answers, name).to.have.length(presented);
      expect(await refusing.paid(), name).to.equal(10n);
    }
  });

  it("survive a crash at each write: the same payment is presented in the journaled words, and paid once", async () => {
    let died = 0;
    const sotto = { key: "once" };
    for (let writes = 0; ; writes += 1) {
      const scene = await open();
      const disk = new MemoryStore();
      const { world, merchant } = scene;
      const live = async () => {
        scene.payer = await world.wallet({ seed: SEED, store: dyingStore(disk, writes, true) });
        return wrap(scene)(`${ORIGIN}/a`, { sotto });
      };
      const first = await live().catch((error: Error) => error);
      word = "later";
      if (first instanceof Response) break;
      died += 1;
      scene.payer = await world.wallet({ seed: SEED, store: disk });
      const asked = merchant.seen.length;
      const [left] = await openPurchases(scene.payer);
      if (left?.state === "paid") {
        await expectRejected("METHOD_MISSING", () => wrap(scene, { methods: [] })(`${ORIGIN}/a`, { sotto }));
        expect(merchant.seen, "nothing was sent").to.have.length(asked);
      }
      const second = await wrap(scene)(`${ORIGIN}/a`, { sotto }).catch((error: PurchaseError) => error);
      if (second instanceof Response) expect(await second.text()).to.equal("served /a");
      else expect(second.code).to.equal("PURCHASE_FINISHED");
      expect(await scene.paid()).to.equal(10n);
      expect(new Set(answers.map(({ proof }) => proof)).size).to.equal(1);
    }
    expect(died).to.be.greaterThan(6);
  });

  it("are read in the owner's order of methods, if the 402 is an x402-zk challenge too", async () => {
    const scene = await open();
    const { misbehave } = scene.merchant;
    scene.merchant.misbehave = async (seen, answer) => {
      const response = await misbehave(seen, answer);
      if (response?.status !== 402) return response;
      const { body } = decoded(response.headers.get("x-word")!);
      return Response.json(body, {
        status: 402,
        headers: { ...Object.fromEntries(response.headers), "www-authenticate": "x402-zk" },
      });
    };
    await wrap(scene)(`${ORIGIN}/a`);
    expect(answers).to.have.length(1);
    await wrap(scene, { methods: [privatePayment, words()] })(`${ORIGIN}/a`);
    expect(answers).to.have.length(1);
    const headers = { authorization: "Bearer secret" };
    expect(await (await wrap(scene)(`${ORIGIN}/a`, { headers })).text()).to.equal("served /a");
    expect(answers, "a taken header leaves x402-zk").to.have.length(1);
    expect(await scene.paid()).to.equal(30n);
    await expectRejected("FETCH_OPTION_INVALID", async () =>
      wrap(scene, { methods: [privatePayment, privatePayment] }),
    );
  });

  it("are quoted without paying", async () => {
    const scene = await open();
    const options = { services: ["https://pay.example/zk"], methods: [words()] };
    const quote = (methods: PayingMethod[]) =>
      quotePayment(scene.merchant.fetch, scene.payer, { ...options, methods }, `${ORIGIN}/a`);
    expect((await quote([words()])).offer).to.deep.include({ price: 10n, stated: { word: "one" } });
    expect((await quote([])).response?.status).to.equal(402);
    expect(await scene.paid()).to.equal(0n);
  });

  it("are refused if the method cannot present a proof, or keeps too long a text", async () => {
    const scene = await open();
    const { wrap: _, ...unable } = words().open({} as never);
    const read = unable.terms!;
    const method = { ...words(), open: () => unable };
    await expectRejected("METHOD_INVALID", () => wrap(scene, { methods: [method] })(`${ORIGIN}/a`));
    const long = words({ terms: async (...asked) => ({ ...(await read(...asked))!, kept: "k".repeat(16_385) }) });
    await expectRejected("METHOD_INVALID", () => wrap(scene, { methods: [long] })(`${ORIGIN}/a`));
    const none = wrap(scene, { methods: [words({ terms: async () => undefined })] });
    expect(await (await none(`${ORIGIN}/a`)).text(), "the caller gets the 402").to.equal("pay");
    expect(await scene.paid()).to.equal(0n);
  });

  it("come from methods whose schemes and questions are checked", async () => {
    const scene = await open();
    const wrong = [
      { headers: ["Authorization"] },
      { headers: [{ name: "X-Word", scheme: "Word" }] },
      { headers: [{ name: "Authorization", scheme: "Wo rd" }] },
      { asks: { Cookie: "a" } },
      { asks: { "X-A": "a\r\nb" } },
    ];
    for (const changes of wrong)
      await expectRejected("FETCH_OPTION_INVALID", async () =>
        wrap(scene, { methods: [{ ...words(), ...changes } as PayingMethod] }),
      );
    const other = { ...words(), name: "other", headers: [{ name: "authorization", scheme: "Other" }], asks: {} };
    wrap(scene, { methods: [words(), other] });
    const same = { ...other, headers: [{ name: "authorization", scheme: "word" }] };
    await expectRejected("FETCH_OPTION_INVALID", async () => wrap(scene, { methods: [words(), same] }));
  });
});
