import type { App } from "@sotto/server";
import { DAY_MS } from "@sotto/test-kit/clock";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { INTERNALS } from "@sotto/test-kit/fuzz-http";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { fieldMutation, type Sample } from "@sotto/test-kit/mutations";
import { Random } from "@sotto/test-kit/random";
import { expect } from "chai";
import {
  MAX_METERED_ROUTES,
  MAX_SIGNED_TERMS_BYTES,
  receiptKeyOf,
  type WireSignedMeteredTerms,
} from "../../src/index.ts";
import { RULE } from "../core/metered/support/samples.ts";
import { ask, codeOf, MirrorWorld, NOW, PLACE, push as pushTo } from "./support/mirror.ts";
import { ORIGIN } from "./support/schedules.ts";
import { newTermsMerchant, RECEIPT_KEYS, type TermsMerchant } from "./support/terms.ts";

const PATH = "/prepaid/terms";
const CHEAPER = { ...RULE, base: 0n };
const route = (path: string, rule = RULE) => ({ method: "POST", path, rule });

overDatabases("a mirror of the terms of metered routes", EVERY_DATABASE, (newUrl) => {
  let world: MirrorWorld;
  let merchant: TermsMerchant;
  let app: App;
  beforeEach(async () => {
    world = new MirrorWorld(await newUrl());
    merchant = newTermsMerchant(PLACE);
    app = await world.replica();
  });
  afterEach(() => world.close());

  const push = (body: unknown, to = app, from?: string) => pushTo(to, PATH, body, from);
  const pushed = async (change: Parameters<TermsMerchant["terms"]>[0], to = app) =>
    codeOf(await push(await merchant.sign(merchant.terms(change)), to));
  const get = (query: Record<string, string>, from = app) => ask(from, PATH, query);
  const kept = async (of: Pick<TermsMerchant, "wallet"> = merchant, origin = ORIGIN, from = app) => {
    const { body } = await get({ wallet: of.wallet, origin }, from);
    return body["terms"] as (WireSignedMeteredTerms & { receivedAt: number })[];
  };
  const NEW = [201, undefined];
  const CONTRADICTED = [409, "PREPAID_TERMS_CONTRADICTED"];

  it("keeps terms with their signature, and recognizes them when they are pushed again", async () => {
    const signed = await merchant.sign(merchant.terms({ receiptKeys: RECEIPT_KEYS }));
    expect(await push(signed)).to.deep.equal({ status: 201, body: { accepted: true } });
    world.now += 5_000;
    expect(await push(signed)).to.deep.equal({ status: 200, body: { accepted: false } });
    expect(await kept()).to.deep.equal([{ ...signed, receivedAt: NOW / 1000 }]);
    expect(await kept(newTermsMerchant(PLACE))).to.deep.equal([]);
    expect(await kept(merchant, "https://other.example")).to.deep.equal([]);
  });

  it("accepts additions: other routes, later months, and a price that changes with the month", async () => {
    for (const change of [
      {},
      { routes: [route("/v1/embed")] },
      { receiptKeys: RECEIPT_KEYS.slice(0, 2) },
      { firstEpoch: "2027-01", receiptKeys: RECEIPT_KEYS.slice(2), routes: [route("/v1/chat", CHEAPER)] },
    ]) {
      expect(await pushed(change)).to.deep.equal(NEW);
      world.now += 1000;
    }
    expect((await kept()).map(({ terms }) => terms.firstEpoch)).to.deep.equal([
      "2026-11",
      "2026-11",
      "2026-11",
      "2027-01",
    ]);
  });

  it("refuses a second rule or receipt key for a month, and keeps the first", async () => {
    const first = await merchant.sign(merchant.terms({ receiptKeys: RECEIPT_KEYS.slice(0, 2) }));
    await push(first);
    for (const change of [
      { routes: [route("/v1/chat", CHEAPER)] },
      // The same requests in another spelling.
      { routes: [route("/V1/:model", CHEAPER)] },
      { routes: [route("/v1/*", CHEAPER)] },
      { firstEpoch: "2026-12", receiptKeys: [RECEIPT_KEYS[1]!], routes: [route("/v1/chat", CHEAPER)] },
      { receiptKeys: [RECEIPT_KEYS[2]!] },
      { firstEpoch: "2026-12", receiptKeys: [RECEIPT_KEYS[2]!], routes: [route("/elsewhere")] },
    ]) {
      expect(await pushed(change)).to.deep.equal(CONTRADICTED);
      expect(await kept()).to.deep.equal([{ ...first, receivedAt: NOW / 1000 }]);
    }
    expect(await pushed({ routes: [route("/elsewhere", CHEAPER)] }), "the control").to.deep.equal(NEW);
  });

  it("names the route or the receipt key that the merchant signed twice", async () => {
    await pushed({});
    const message = async (change: Parameters<TermsMerchant["terms"]>[0]) =>
      (await push(await merchant.sign(merchant.terms(change)))).body["message"];
    expect(await message({ routes: [route("/v1/*", CHEAPER)] })).to.include("another rule for POST /v1/* in 2026-11");
    expect(await message({ receiptKeys: RECEIPT_KEYS.slice(1) })).to.include("another receipt key in 2026-11");
  });

  it("keeps the terms of other wallets, origins and pools apart", async () => {
    await pushed({});
    const routes = [route("/v1/chat", CHEAPER)];
    expect(await pushed({ routes, origin: "https://other.example" })).to.deep.equal(NEW);
    const other = newTermsMerchant(PLACE);
    expect((await push(await other.sign(other.terms({ routes })))).status).to.equal(201);
    const pool = `0x${"5b".repeat(20)}` as const;
    const elsewhere = await world.replica({ SOTTO_POOL: pool });
    expect(await pushed({ routes, pool }, elsewhere)).to.deep.equal(NEW);
    for (const from of [app, elsewhere]) expect(await kept(merchant, ORIGIN, from)).to.have.length(1);
  });

  it("keeps exactly one of several contradicting terms that reach two replicas at once", async () => {
    const replicas = [app, await world.replica()];
    for (let round = 0; round < 3; round += 1) {
      const each = newTermsMerchant(PLACE);
      const rules = [0n, 1n, 2n, 3n, 4n, 5n].map((base) => ({ ...RULE, base }));
      const signed = await Promise.all(
        rules.map((rule) => each.sign(each.terms({ routes: [route("/v1/chat", rule)] }))),
      );
      const answers = await Promise.all(signed.map((body, index) => push(body, replicas[index % 2])));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409, 409, 409]);
      const winner = signed[answers.findIndex(({ status }) => status === 201)];
      for (const from of replicas)
        expect(await kept(each, ORIGIN, from)).to.deep.equal([{ ...winner, receivedAt: NOW / 1000 }]);
    }
  });

  it("accepts the same terms once, however many replicas they reach at once", async () => {
    const replicas = [app, await world.replica()];
    const signed = await merchant.sign(merchant.terms());
    const answers = await Promise.all([0, 1, 2, 3].map((index) => push(signed, replicas[index % 2])));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 200, 201]);
    expect(await kept()).to.have.length(1);
  });

  it("remembers terms across a restart and forever, and lists them while the tokens of their last month are accepted", async () => {
    await pushed({});
    await world.close();
    world.now = Date.UTC(2026, 11, 31, 23);
    app = await world.replica();
    expect(await kept()).to.have.length(1);
    world.now = Date.UTC(2027, 0, 1);
    for (const { sweep } of world.served) await sweep();
    expect(await kept()).to.deep.equal([]);
    expect(await pushed({ routes: [route("/v1/chat", CHEAPER)] })).to.deep.equal(CONTRADICTED);
  });

  it("lists at most 24 terms of a wallet and origin", async () => {
    const at = (month: number) => `${2026 + Math.floor(month / 12)}-${String(1 + (month % 12)).padStart(2, "0")}`;
    for (let month = 10; month < 34; month += 1) expect(await pushed({ firstEpoch: at(month) })).to.deep.equal(NEW);
    const over = { firstEpoch: at(34) };
    expect(await pushed(over)).to.deep.equal([422, "PREPAID_TERMS_FULL"]);
    expect(await pushed({ ...over, origin: "https://other.example" })).to.deep.equal(NEW);
    world.now = Date.UTC(2027, 0, 1);
    expect(await pushed(over), "the tokens of the first month have ended").to.deep.equal(NEW);
    expect(await kept()).to.have.length(24);
  });

  it("keeps at most 24 terms of an ended month, because new ones are compared with each", async () => {
    const ended = (i: number) => ({ firstEpoch: "2020-01", routes: [route(`/${i}`)] });
    for (let i = 0; i < 24; i += 1) expect(await pushed(ended(i))).to.deep.equal(NEW);
    expect(await pushed(ended(24))).to.deep.equal([422, "PREPAID_TERMS_FULL"]);
    expect(await pushed(ended(0)), "known").to.deep.equal([200, undefined]);
    expect(await kept()).to.deep.equal([]);
    expect(await pushed({}), "the control").to.deep.equal(NEW);
  });

  it("limits the new terms per day with the schedules, and the pushes per network and day", async () => {
    const limited = await world.replica({ SOTTO_PREPAID_QUOTA: "1", SOTTO_PREPAID_CLIENT_QUOTA: "3" });
    const signed = await merchant.sign(merchant.terms());
    expect((await push(signed, limited)).status).to.equal(201);
    expect((await push(signed, limited)).status).to.equal(200);
    const next = await merchant.sign(merchant.terms({ firstEpoch: "2026-12" }));
    expect(codeOf(await push(next, limited))).to.deep.equal([429, "QUOTA_EXCEEDED"]);
    const again = await push(signed, limited);
    expect([again.status, again.body["message"]]).to.deep.equal([
      429,
      "quota exceeded: 3 pushed prepaid schedules and metered terms a day for one network; retry in 1 s",
    ]);
    expect((await push(signed, limited, "198.51.100.1")).status).to.equal(200);
    world.now += DAY_MS;
    expect((await push(next, limited)).status).to.equal(201);
  });

  it("refuses terms that differ from what their wallet signed, and those of another chain or pool", async () => {
    const signed = await merchant.sign(merchant.terms({ receiptKeys: RECEIPT_KEYS.slice(0, 2) }));
    const wire = signed.terms;
    const [only] = wire.routes;
    for (const change of [
      { wallet: newTermsMerchant(PLACE).wallet },
      { origin: "https://other.example" },
      { firstEpoch: "2026-12" },
      { receiptKeys: wire.receiptKeys.slice(1) },
      { routes: [{ ...only!, path: "/v2/chat" }] },
      { routes: [{ ...only!, rule: { ...only!.rule, base: "99" } }] },
    ]) {
      const answer = await push({ ...signed, terms: { ...wire, ...change } });
      expect(codeOf(answer), JSON.stringify(change)).to.deep.equal([401, "PREPAID_SIGNATURE_INVALID"]);
    }
    for (const change of [{ chainId: 1n }, { pool: `0x${"5b".repeat(20)}` as const }])
      expect(await pushed(change)).to.deep.equal([422, "WRONG_DEPLOYMENT"]);
    expect(await kept()).to.deep.equal([]);
  });

  it("accepts terms of the greatest size, and nothing above it", async () => {
    const units = Array.from({ length: 32 }, (_, i) => ({
      name: `u${String(i).padStart(31, "0")}`,
      price: (1n << 64n) - 1n,
      per: 1_000_000_000,
    }));
    const rule = { ...RULE, units };
    const receiptKeys = Array.from({ length: 12 }, (_, i) => receiptKeyOf(new Uint8Array(32).fill(i)));
    const terms = (wave: number) =>
      merchant.terms({
        receiptKeys,
        routes: Array.from({ length: MAX_METERED_ROUTES }, (_, i) => ({
          method: "M".repeat(32),
          path: `/${String(wave * MAX_METERED_ROUTES + i).padStart(255, "a")}`,
          rule: { ...rule, base: BigInt(wave) },
        })),
      });
    for (const wave of [0, 1, 2])
      expect((await push(await merchant.sign(terms(wave)))).status, String(wave)).to.equal(201);
    const text = JSON.stringify(await merchant.sign(terms(0)));
    expect((await push(text.padEnd(MAX_SIGNED_TERMS_BYTES))).body).to.deep.equal({ accepted: false });
    const over = await push(text.padEnd(MAX_SIGNED_TERMS_BYTES + 1));
    expect(codeOf(over)).to.deep.equal([413, "BODY_TOO_LARGE"]);
    expect(await kept()).to.have.length(3);
  });

  it("explains what is wrong with terms or a query", async () => {
    const { terms, signature } = await merchant.sign(merchant.terms());
    const [only] = terms.routes;
    const wrong: [unknown, string][] = [
      [{ terms: { ...terms, origin: `${ORIGIN}/` }, signature }, "PREPAID_TERMS_INVALID"],
      [{ terms: { ...terms, firstEpoch: "2026-13" }, signature }, "PREPAID_TERMS_INVALID"],
      [{ terms: { ...terms, routes: [only, only] }, signature }, "PREPAID_TERMS_INVALID"],
      [{ terms: { ...terms, routes: [{ ...only, method: "HEAD" }] }, signature }, "PREPAID_TERMS_INVALID"],
      [{ terms: { ...terms, more: 1 }, signature }, "PREPAID_TERMS_INVALID"],
      [{ terms, signature: "0xzz" }, "PREPAID_TERMS_INVALID"],
      [{ terms }, "INVALID_REQUEST"],
      [{ terms: { ...terms, routes: [] }, signature }, "INVALID_REQUEST"],
      [[], "INVALID_REQUEST"],
    ];
    for (const [body, code] of wrong) expect(codeOf(await push(body)), code).to.deep.equal([400, code]);
    const { wallet } = merchant;
    for (const [query, code] of [
      [{ wallet }, "INVALID_REQUEST"],
      [{ wallet: `0x${"zz".repeat(20)}`, origin: ORIGIN }, "INVALID_ADDRESS"],
      [{ wallet, origin: `${ORIGIN}/` }, "INVALID_STRING"],
      [{ wallet, origin: "\u0000" }, "INVALID_STRING"],
    ] as const)
      expect(codeOf(await get({ ...query })), JSON.stringify(query)).to.deep.equal([400, code]);
  });

  it("answers mutated terms with their error, and keeps none of them", async () => {
    const right = await merchant.sign(merchant.terms());
    const other = newTermsMerchant(PLACE);
    const sample: Sample = {
      path: PATH,
      right: { ...right.terms },
      other: { ...(await other.sign(other.terms({ routes: [route("/v2")] }))).terms },
      optional: [],
      same: ["chainId", "pool", "origin", "firstEpoch", "receiptKeys"],
    };
    const random = new Random("metered terms");
    const statuses = new Set<number>();
    for (let count = 0; count < fuzzSize(300, 20_000); count += 1) {
      const mutation = fieldMutation(sample, random);
      if (mutation === undefined) continue;
      const [what, terms] = mutation;
      const answer = await app.inject({
        method: "POST",
        url: PATH,
        headers: { "content-type": "application/json" },
        payload: JSON.stringify({ terms, signature: right.signature }),
        remoteAddress: `10.${count % 200}.0.1`,
      });
      const about = `${what}: ${answer.statusCode} ${answer.body.slice(0, 200)}`;
      expect(answer.statusCode, about).to.be.within(400, 499);
      expect(INTERNALS.test(answer.body), about).to.equal(false);
      expect(answer.body.length, about).to.be.below(1500);
      statuses.add(answer.statusCode);
    }
    expect([...statuses]).to.include.members([400, 401]);
    expect(await kept()).to.deep.equal([]);
  });
});
