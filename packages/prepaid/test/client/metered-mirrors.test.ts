// Terms and keys of change, compared with a real mirror over SQLite.
import { join } from "node:path";
import type { App } from "@sotto/server";
import { POOL } from "@sotto/test-chain/pool";
import { DAY_MS } from "@sotto/test-kit/clock";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { SottoService } from "@sotto/wallet";
import { expect } from "chai";
import { PrepaidBook, prepaidBookOf } from "../../src/client/book.ts";
import { openPrepaid } from "../../src/client/open.ts";
import { pushTerms } from "../../src/client/push.ts";
import {
  encodeSignedTerms,
  type MeteredTerms,
  meteredTermsDigest,
  PREPAID_CHANGE_PATH,
  parseReceipt,
  receiptKeyOf,
  type WireSignedMeteredTerms,
} from "../../src/index.ts";
import { MirrorWorld } from "../service/support/mirror.ts";
import { MeteredWorld, RULE } from "./support/metered-merchant.ts";
import { ORIGIN } from "./support/world.ts";

const MIRROR = "https://mirror.example";
const OTHER_KEYS = [7, 8, 9].map((byte) => receiptKeyOf(new Uint8Array(32).fill(byte)));

describe("a metered route with a mirror", function () {
  slow(this, "private payments for packs, blinded and signed");
  const folder = temporaryFolder("metered-mirrors");
  let scene: MeteredWorld;
  let book: PrepaidBook;
  let world: MirrorWorld;
  let app: App;
  /** Requests to the mirror, such as "GET terms". */
  let asked: string[];
  /** Replaces an answer of the mirror. */
  let misbehave: (asked: string, answer: Response) => Promise<Response>;
  let count = 0;
  beforeEach(async () => {
    scene = await MeteredWorld.open();
    book = await prepaidBookOf(scene.payer.store);
    count += 1;
    world = new MirrorWorld(`sqlite:${join(folder, `${count}.sqlite`)}`);
    world.now = scene.payer.now();
    app = await world.replica({ SOTTO_POOL: POOL });
    asked = [];
    misbehave = async (_, answer) => answer;
  });
  afterEach(() => world.close());

  const send: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    if (url.origin !== MIRROR) return scene.merchant.fetch(input, init);
    const [method, headers] = [init?.method ?? "GET", Object.fromEntries(new Headers(init?.headers))];
    const payload = init?.body === undefined ? {} : { payload: String(init.body) };
    const path = url.pathname + url.search;
    const answer = await app.inject({ method: method as "GET", url: path, headers, ...payload });
    const name = `${method} ${url.pathname.replace("/prepaid/", "")}`;
    asked.push(name);
    return misbehave(name, new Response(answer.body, { status: answer.statusCode }));
  };
  const service = () => new SottoService(MIRROR, { fetch: send });
  const paying = () => scene.wrap({ buy: true, maxDelayMs: 1e9, mirrors: [MIRROR], fetch: send });
  const pay = async () => (await paying()(`${ORIGIN}/a`)).text();
  /** Another payer's client has pushed terms. */
  const pushed = async (change: Partial<MeteredTerms>): Promise<WireSignedMeteredTerms> => {
    const signed = encodeSignedTerms(await scene.merchant.signTerms(change));
    await pushTerms(service(), signed);
    asked = [];
    return signed;
  };
  const shown = () => scene.merchant.seen.filter(({ headers }) => headers.has("x-payment-token")).length;

  it("is compared once, and the mirror gets its terms and keys", async () => {
    expect(await pay()).to.equal("served /a");
    expect(asked.filter((name) => name.endsWith("terms"))).to.deep.equal(["GET terms", "POST terms", "GET terms"]);
    expect(asked).to.include.members(["GET schedules", "POST schedules"]);
    const { wallet } = scene.merchant.terms[0]!.terms;
    const kept = await app.inject({ method: "GET", url: "/prepaid/terms", query: { wallet, origin: ORIGIN } });
    expect((kept.json() as { terms: unknown[] }).terms).to.deep.equal([
      { ...encodeSignedTerms(scene.merchant.terms[0]!), receivedAt: Math.floor(world.now / 1000) },
    ]);
    asked = [];
    // A request must not tell the mirror when the payer pays.
    await (await paying()(`${ORIGIN}/b`)).text();
    expect(asked).to.deep.equal([]);
  });

  it("is compared once also for the next process, which forgets it after the last month", async () => {
    await pay();
    const { store } = scene.payer;
    const next = await PrepaidBook.open(store);
    const kept = async () => (await store.list("prepaid/mirrored/")).map(({ value }) => (value as { id: string }).id);
    const ids = await kept();
    expect(ids).to.include(meteredTermsDigest(scene.merchant.terms[0]!.terms));
    expect(ids.filter((id) => !next.isMirrored(MIRROR, id))).to.deep.equal([]);
    await next.prune(scene.payer.now() + 400 * DAY_MS);
    expect(await kept()).to.deep.equal([]);
  });

  const lies: Record<string, Partial<MeteredTerms>> = {
    "another rule": { routes: [{ method: "GET", path: "/*", rule: { ...RULE, base: 2n } }] },
    "another receipt key": { receiptKeys: OTHER_KEYS },
  };
  for (const [title, change] of Object.entries(lies))
    it(`is not paid if its merchant showed ${title} to another payer, and both terms are kept as evidence`, async () => {
      const other = await pushed(change);
      await expectRejected("PREPAID_TERMS_CONFLICT", pay);
      expect([await scene.paid(), shown(), await scene.stop()]).to.deep.equal([0n, 0, "PREPAID_TERMS_CONFLICT"]);
      expect(book.origin(ORIGIN).stopped?.terms).to.have.deep.members([
        other,
        encodeSignedTerms(scene.merchant.terms[0]!),
      ]);
      expect(asked).to.deep.equal(["GET terms"]);
    });

  it("is paid if another payer saw other routes, or another price in later months", async () => {
    const later = { firstEpoch: scene.merchant.laterEpoch(6), receiptKeys: OTHER_KEYS.slice(0, 1) };
    await pushed({ routes: [{ method: "POST", path: "/other", rule: { ...RULE, base: 2n } }] });
    await pushed({ ...later, routes: [{ method: "GET", path: "/*", rule: { ...RULE, base: 2n } }] });
    expect(await pay()).to.equal("served /a");
    expect(await scene.stop()).to.equal(undefined);
  });

  it("is not paid if another payer's terms reach the mirror between question and push", async () => {
    misbehave = async (name, answer) => {
      misbehave = async (_, later) => later;
      expect(name).to.equal("GET terms");
      await pushed({ receiptKeys: OTHER_KEYS });
      return answer;
    };
    await expectRejected("PREPAID_TERMS_CONFLICT", pay);
    expect(await scene.paid()).to.equal(0n);
  });

  it("is compared with what its wallet signed only: a mirror cannot accuse it", async () => {
    const forged = encodeSignedTerms(await scene.merchant.signTerms({ receiptKeys: OTHER_KEYS }));
    const { signature } = encodeSignedTerms(scene.merchant.terms[0]!);
    misbehave = async (name, answer) => {
      if (name !== "GET terms") return answer;
      const { terms } = (await answer.json()) as { terms: object[] };
      return Response.json({ terms: [{ ...forged, signature }, ...terms] });
    };
    expect(await pay()).to.equal("served /a");
    expect(await scene.stop()).to.equal(undefined);
  });

  it("says its charge although the keys of its change cannot be compared meanwhile", async () => {
    scene.merchant.misbehave = ({ target }) =>
      target === PREPAID_CHANGE_PATH ? Response.json({}, { status: 503 }) : undefined;
    await pay();
    const { id } = book.metered.requests()[0]!;
    const open = (mirror: string) =>
      openPrepaid(send, scene.payer, scene.options({ mirrors: [mirror], fetch: send, buy: false }));
    const claim = async (mirror: string) => (await open(mirror)).metered.claims.claim(id);
    expect((await claim(MIRROR)).kind).to.equal("later");
    scene.merchant.misbehave = () => undefined;
    // The next process has another mirror, which does not answer.
    expect((await claim("https://other.example")).kind).to.equal("later");
    const { state, receipt } = book.metered.request(id)!;
    expect([state, parseReceipt(receipt!).receipt.charge]).to.deep.equal(["claimed", 3n]);
  });

  it("is not paid if the mirror does not answer, answers nonsense or keeps nothing, and is not stopped", async () => {
    const assertRefused = async (code: string) => {
      const error = await expectRejected(code, pay);
      expect([await scene.paid(), shown(), await scene.stop()]).to.deep.equal([0n, 0, undefined]);
      return error;
    };
    const failures: (typeof misbehave)[] = [
      async () => new Response("{}", { status: 503 }),
      async () => Response.json({}),
      async () => Response.json({ terms: [{ terms: 1, signature: "0x12" }] }),
      async () => Response.json({ terms: Array.from({ length: 25 }, () => ({})) }),
      async () => Response.json({ terms: [], accepted: true }),
    ];
    for (const answer of failures) {
      misbehave = answer;
      const { details, message } = await assertRefused("PREPAID_MIRROR_FAILED");
      expect(details).to.deep.equal({ mirror: MIRROR });
      expect(message).to.match(/^the mirror .*; nothing was paid$/);
    }
    misbehave = async () => Promise.reject(new TypeError("fetch failed"));
    await assertRefused("PREPAID_UNREACHABLE");
    misbehave = async (_, answer) => answer;
    expect(await pay(), "the control").to.equal("served /a");
  });
});
