// The paying fetch against a real Express resource server, which checks proofs, token, chain and single use.

import { openPurchases, type PayingInit, quotePayment, wrapFetch } from "@sotto/client";
import { SCHEDULE_PATH } from "@sotto/protocol";
import { createProver, loadArtifacts, type Prover } from "@sotto/prover";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { openResourceServer, type ResourceServer } from "@sotto/test-world/resource-server";
import { ARTIFACTS, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import * as undici from "undici";

const PRICE = 10_000n;

describe("paying fetch against a real resource server", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: ResourceServer;
  let url: string;
  let prover: Prover;
  before(async () => {
    world = await openWorld();
    prover = createProver(await loadArtifacts({ folder: ARTIFACTS }));
    server = await openResourceServer(world, "0.01");
    url = server.url;
  });
  after(async () => {
    await server?.close();
    await prover?.close();
  });
  const received = () => server.received();

  it("pays with real proofs, and pays nothing for free routes", async () => {
    const wallet = await payerWith(world, [60_000n], { prover });
    const pay = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE });
    expect(await (await pay(`${url}/health`)).text()).to.equal("free");
    expect(await received()).to.equal(0n);
    const response = await pay(`${url}/report/7?lang=en`);
    expect([response.status, await response.text()]).to.deep.equal([200, "sold /report/7?lang=en"]);
    expect(await received()).to.equal(PRICE);
    // The change of the first payment pays for the next one, once the relayer has appended the change.
    expect((await pay(`${url}/report/8`)).status).to.equal(200);
    await wallet.scan();
    expect(wallet.balance().total).to.equal(40_000n);
  });

  it("retries a failing handler with the same proof, and pays once per key", async () => {
    const wallet = await payerWith(world, [60_000n, 60_000n]);
    const pay = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE, retryDelayMs: 20 });
    const before = await received();
    server.failing = 2;
    const init: PayingInit = { sotto: { key: "order 7" } };
    expect((await pay(`${url}/order`, init)).status).to.equal(200);
    expect(await received()).to.equal(before + PRICE);
    expect((await rejection(pay(`${url}/order`, init))).code).to.equal("PURCHASE_FINISHED");
    expect((await rejection(pay(`${url}/other`, init))).code).to.equal("PURCHASE_FINISHED");
    expect(await received()).to.equal(before + PRICE);
    expect(await openPurchases(wallet)).to.deep.equal([]);
  });

  it("pays once for the same form, with and without a key, if a proxy refused the proof at first", async () => {
    const wallet = await payerWith(world, [60_000n, 60_000n, 60_000n]);
    let refusing = false;
    const throughProxy: typeof fetch = async (input, init) =>
      refusing && new Headers(init?.headers).has("x-payment-proof")
        ? new Response("too many requests", { status: 429 })
        : fetch(input, init);
    const pay = wrapFetch(throughProxy, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE });
    // A new object each time, which is serialized with a new boundary.
    const post = (text: string, sotto: PayingInit["sotto"] = {}) => {
      const body = new FormData();
      body.append("text", text);
      body.append("file", new Blob(["bytes"], { type: "text/plain" }), "a.txt");
      return pay(`${url}/form`, { method: "POST", body, sotto });
    };
    const before = await received();
    for (const sotto of [{}, { key: "form 1" }]) {
      const paid = await received();
      refusing = true;
      expect((await post("same", sotto)).status).to.equal(429);
      refusing = false;
      expect((await post("same", sotto)).status).to.equal(200);
      expect(await received()).to.equal(paid + PRICE);
    }
    // The control: another form is another purchase.
    expect((await post("other")).status).to.equal(200);
    expect(await received()).to.equal(before + 3n * PRICE);
  });

  it("pays for a HEAD with the terms that a GET gets, and sends the proof with the HEAD", async () => {
    const wallet = await payerWith(world, [60_000n]);
    const methods: string[] = [];
    const recorded: typeof fetch = async (input, init) => {
      const what = new Headers(init?.headers).has("x-payment-proof") ? " with a proof" : "";
      methods.push(String(input).endsWith(SCHEDULE_PATH) ? "the schedule" : `${init?.method}${what}`);
      return fetch(input, init);
    };
    const options = { services: [world.serviceUrl], maxPerRequest: PRICE, serviceFetch: fetch };
    const [before, sold] = [await received(), server.sold.length];
    const init = { method: "HEAD" };
    const { offer } = await quotePayment(fetch, wallet, options, `${url}/report/head`, init);
    expect(offer?.price).to.equal(PRICE);
    const pay = wrapFetch(recorded, wallet, options);
    expect((await pay(`${url}/health`, init)).status, "the control: a free resource").to.equal(200);
    methods.length = 0;
    const response = await pay(`${url}/report/head`, init);
    expect([response.status, response.headers.get("content-type"), await response.text()]).to.deep.equal([
      200,
      "text/plain; charset=utf-8",
      "",
    ]);
    expect(methods).to.deep.equal(["HEAD", "GET", "the schedule", "HEAD with a proof"]);
    expect(server.sold.slice(sold)).to.deep.equal(["/report/head"]);
    expect(await received()).to.equal(before + PRICE);
  });

  it("does not pay for a HEAD if the GET asks for no payment, or for a payment at another origin", async () => {
    const wallet = await payerWith(world, [60_000n]);
    const before = await received();
    const options = { services: [world.serviceUrl], maxPerRequest: PRICE };
    const answers: [string, () => Promise<Response>][] = [
      ["CHALLENGE_INVALID", async () => new Response("free")],
      ["CHALLENGE_INVALID", async () => new Response(null, { status: 402 })],
      ["RESOURCE_MISMATCH", () => fetch(`${url}/report/other`)],
    ];
    for (const [code, answer] of answers) {
      const send: typeof fetch = (input, init) => (init?.method === "GET" ? answer() : fetch(input, init));
      const pay = wrapFetch(send, wallet, { ...options, serviceFetch: fetch });
      expect((await rejection(pay(`${url}/report/head`, { method: "HEAD" }))).code).to.equal(code);
    }
    expect(await received()).to.equal(before);
  });

  it("refuses requests and forms of another fetch before it pays, with that fetch and with the platform's", async () => {
    const wallet = await payerWith(world, [60_000n]);
    const before = await received();
    const form = new undici.FormData();
    form.append("text", "value");
    const foreign = { method: "POST", body: form as unknown as BodyInit };
    const options = { services: [world.serviceUrl], maxPerRequest: PRICE };
    for (const send of [undici.fetch as unknown as typeof fetch, fetch]) {
      const pay = wrapFetch(send, wallet, options);
      const refused = (): [RequestInfo | URL, RequestInit][] => [
        [`${url}/foreign`, foreign],
        [new Request(`${url}/foreign`, foreign), {}],
        [new undici.Request(`${url}/foreign`) as unknown as Request, {}],
        [`${url}/foreign`, new Request(`${url}/foreign`, { method: "POST", body: "text" })],
      ];
      for (const [input, init] of refused())
        expect((await rejection(pay(input, init))).code).to.equal("REQUEST_NOT_SUPPORTED");
      for (const [input, init] of refused()) {
        const { code } = await rejection(quotePayment(send, wallet, options, input, init));
        expect(code).to.equal("REQUEST_NOT_SUPPORTED");
      }
    }
    expect(await received()).to.equal(before);
    // The control: the platform's form, sent with the other fetch.
    const own = new FormData();
    own.append("text", "value");
    const pay = wrapFetch(undici.fetch as unknown as typeof fetch, wallet, options);
    expect((await pay(`${url}/own`, { method: "POST", body: own })).status).to.equal(200);
    expect(await received()).to.equal(before + PRICE);
  });

  it("splits one note for parallel requests if configured", async () => {
    const wallet = await payerWith(world, [400_000n]);
    const split = { notes: 4, amount: 20_000n };
    const pay = wrapFetch(fetch, wallet, { services: [world.serviceUrl], maxPerRequest: PRICE, split });
    const before = await received();
    const responses = await Promise.all([1, 2, 3, 4].map((n) => pay(`${url}/parallel/${n}`)));
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(await received()).to.equal(before + 4n * PRICE);
    // Three payments to the wallet itself and four to the server, each from a separate note.
    const settled = wallet.history().filter(({ state }) => state === "settled");
    expect(settled.map(({ amount }) => amount).filter((amount) => amount === PRICE)).to.have.length(4);
    expect(settled).to.have.length(7);
    await wallet.scan();
    expect(wallet.balance().total).to.equal(400_000n - 4n * PRICE);
  });

  it("can be aborted at each stage, and resumes with the next equal request", async () => {
    const wallet = await payerWith(world, [60_000n, 60_000n, 60_000n, 60_000n, 60_000n, 60_000n]);
    const before = await received();
    const stages = ["challenge", "proving", "verifying", "settling", "paid", "presenting"];
    for (const stage of stages) {
      const abort = new AbortController();
      const reason = new Error(stage);
      const pay = wrapFetch(fetch, wallet, {
        services: [world.serviceUrl],
        maxPerRequest: PRICE,
        onProgress: (told) => void (told.stage === stage && abort.abort(reason)),
      });
      const stopped = await pay(`${url}/stopped/${stage}`, { signal: abort.signal }).catch((error: unknown) => error);
      expect(stopped, stage).to.equal(reason);
      expect((await pay(`${url}/stopped/${stage}`)).status, stage).to.equal(200);
    }
    expect(await received()).to.equal(before + BigInt(stages.length) * PRICE);
    expect(server.sold.filter((target) => target.startsWith("/stopped/"))).to.have.length(stages.length);
  });
});
