// Prepaid tokens of the client, against a merchant in memory with real keys and checks. test/client uses the real server.
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import "fake-indexeddb/auto";
import { join } from "node:path";
import { type Offer, openPurchases, signBinding, spentOn } from "@sotto/client";
import { monthAt, SCHEDULE_PATH, scheduleDigest, scheduleJson } from "@sotto/protocol";
import { anyRejection, expectRejected, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { MemoryStore, type Store } from "@sotto/wallet";
import { IndexedDbStore } from "@sotto/wallet/indexeddb";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import { sha256 } from "ethers";
import { keysOf, signSchedule } from "../../../client/test/support/month-merchant.ts";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { World } from "../../../wallet/test/support/world.ts";
import { PACK_SIZES, prepaidBookOf } from "../../src/client/book.ts";
import { restorePrepaid } from "../../src/client/buy.ts";
import { dropPrepaid } from "../../src/client/list.ts";
import type { PackEvent } from "../../src/client/options.ts";
import {
  PREPAID_HEADER,
  PREPAID_PATH,
  PREPAID_RECOVER_PATH,
  parsePrepaidPurchase,
  preparePrepaidPack,
} from "../../src/index.ts";
import { PAIRS, sign } from "./support/merchant.ts";
import { ORIGIN, PrepaidWorld } from "./support/world.ts";

const AWAY = () => {
  throw new TypeError("fetch failed");
};
const isPack = (target: string) => target.startsWith(`${PREPAID_PATH}?`);

describe("prepaid tokens", function () {
  slow(this, "packs of up to 1000 tokens are blinded, signed and verified");
  let scene: PrepaidWorld;
  beforeEach(async () => {
    scene = await PrepaidWorld.open();
  });
  const text = async (response: Promise<Response>) => (await response).text();

  it("are bought as one purchase, and each pays for one request", async () => {
    expect(await scene.buy()).to.include({ count: 100, left: 100, state: "ready", value: 10n, restored: false });
    const { payer, merchant } = scene;
    expect([await scene.paid(), await spentOn(payer.store, payer.now())]).to.deep.equal([1_000n, 1_000n]);
    const pay = scene.wrap();
    for (const path of ["/a", "/b", "/a"]) expect(await text(pay(ORIGIN + path))).to.equal(`served ${path}`);
    expect(merchant.served).to.deep.equal(["/a", "/b", "/a"].map((target) => ({ target, by: "token" })));
    expect([await scene.paid(), merchant.used.size]).to.deep.equal([1_000n, 3]);
    expect(await scene.listed()).to.deep.include({ unspent: 970n, stopped: undefined });
    expect(await openPurchases(payer)).to.deep.equal([]);
  });

  it("are bought at the address of the month, whose schedule is read over a connection of its own", async () => {
    const { payer, merchant, world } = scene;
    const month = monthAt(world.clock());
    const keys = keysOf(7);
    const addressOf = (shieldedAddress: string) =>
      signBinding({ pool: payer.pool, now: world.clock, shieldedAddress }, merchant.account);
    const [lasting, own] = [
      await addressOf(keys.shieldedAddress()),
      await addressOf(keys.ofMonth(month).shieldedAddress),
    ];
    const signed = await signSchedule(keys, merchant.account, [month]);
    const schedule = { path: SCHEDULE_PATH, digest: scheduleDigest(signed.schedule) };
    Object.assign(merchant, { recipient: () => ({ ...own, schedule }) });
    const read: string[] = [];
    const separate: typeof fetch = async (input, init) => {
      const isSchedule = String(input) === ORIGIN + SCHEDULE_PATH;
      if (isSchedule) read.push(String(init?.credentials));
      return isSchedule ? Response.json(scheduleJson(signed)) : merchant.fetch(input, init);
    };
    await scene.buy({ fetch: separate });
    expect(read).to.deep.equal(["omit"]);
    const [entry] = await payer.payments({ decimals: 6 });
    expect(entry!.recipientAddress).to.equal(own.binding.key);
    Object.assign(merchant, { recipient: () => lasting });
    for (let n = 0; n < 100; n += 1) await text(scene.wrap()(`${ORIGIN}/${n}`));
    await expectRejected("ADDRESS_NOT_LISTED", () => scene.buy({ fetch: separate }));
    expect(await scene.paid()).to.equal(1_000n);
  });

  it("are kept if the clock is ahead, and deleted when the chain is past their epoch", async () => {
    const world = new World();
    let off = 0;
    const clock = () => world.clock() + off;
    scene = await PrepaidWorld.open({ seed: SEED, clock }, world);
    const { payer } = scene;
    await scene.buy();
    const packs = async () => (await payer.store.list("prepaid/pack/")).length;
    off = 365 * 86_400_000;
    await rejection(scene.buy());
    expect(await packs()).to.equal(1);
    off = 0;
    expect(await text(scene.wrap()(`${ORIGIN}/a`))).to.equal("served /a");
    expect(scene.merchant.served.at(-1)?.by).to.equal("token");
    world.chain.time += 365 * 86_400;
    await payer.scan();
    await rejection(scene.buy());
    expect(await packs(), "the control").to.equal(0);
  });

  it("are kept by a wallet that has not read the chain since it was opened", async () => {
    await scene.buy();
    const book = await prepaidBookOf(scene.payer.store);
    await book.prune(0);
    expect(book.packs()).to.have.length(1);
    // The control: a time long after their epoch.
    await book.prune(Date.now() + 365 * 86_400_000);
    expect(book.packs()).to.have.length(0);
  });

  it("pay for many requests at once, each with its own token", async () => {
    await scene.buy();
    const pay = scene.wrap();
    const paths = Array.from({ length: 40 }, (_, i) => `/many/${i % 20}`);
    const answers = await Promise.all(paths.map((path) => text(pay(ORIGIN + path))));
    expect(answers).to.deep.equal(paths.map((path) => `served ${path}`));
    expect([...scene.merchant.used.values()].sort()).to.deep.equal(paths.map((path) => `GET ${path}`).sort());
    expect((await scene.listed())?.unspent).to.equal(600n);
  });

  it("are not used unless the option is set, nor for a purchase with a key", async () => {
    await scene.buy();
    await scene.wrap({}, { methods: [] })(`${ORIGIN}/plain`);
    const keyed = scene.wrap();
    await keyed(`${ORIGIN}/keyed`, { sotto: { key: "once" } });
    expect((await rejection(keyed(`${ORIGIN}/keyed`, { sotto: { key: "once" } }))).code).to.equal("PURCHASE_FINISHED");
    expect(scene.merchant.served.map(({ by }) => by)).to.deep.equal(["proof", "proof"]);
    await keyed(`${ORIGIN}/unkeyed`);
    expect(scene.merchant.served.at(-1), "the control").to.deep.equal({ target: "/unkeyed", by: "token" });
  });

  it("leave alone a request that brings its own token", async () => {
    await scene.buy();
    const before = scene.merchant.seen.length;
    scene.merchant.misbehave = () => new Response(null, { status: 204 });
    await scene.wrap()(`${ORIGIN}/own`, { headers: { [PREPAID_HEADER]: "mine" } });
    expect(scene.merchant.seen.length).to.equal(before + 1);
    expect(scene.merchant.seen.at(-1)?.headers.get(PREPAID_HEADER)).to.equal("mine");
  });

  describe("in the background", () => {
    /** A paying fetch that buys packs, and the next event of its purchases. */
    function background(changes: Parameters<PrepaidWorld["wrap"]>[0] = {}) {
      const events: PackEvent[] = [];
      let wake: () => void = () => undefined;
      const onPack = (event: PackEvent) => {
        events.push(event);
        wake();
      };
      const pay = scene.wrap({ buy: true, buyAfter: 2, maxDelayMs: 0, random: () => 0.5, onPack, ...changes });
      const next = async () => {
        if (events.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        return events.shift()!;
      };
      return { pay, next, events };
    }

    it("are bought after some requests were paid singly, and again at a random fill level", async () => {
      const { pay, next } = background();
      for (const path of ["/1", "/2"]) await pay(ORIGIN + path);
      expect(await next()).to.deep.equal({ kind: "bought", origin: ORIGIN, value: 10n, count: 100 });
      // The level is a share of 0.1 to 0.4; with the middle of the range, 25 tokens.
      for (let i = 0; i < 74; i += 1) await pay(`${ORIGIN}/t/${i}`);
      expect(scene.merchant.seen.filter(({ target }) => isPack(target)).length).to.equal(2);
      await pay(`${ORIGIN}/t/74`);
      expect(await next()).to.deep.equal({ kind: "bought", origin: ORIGIN, value: 10n, count: 1000 });
      expect((await scene.listed())?.unspent).to.equal(10_250n);
      expect(scene.merchant.served.filter(({ by }) => by === "proof").length).to.equal(2);
    });

    it("delay no request if the merchant does not finish selling", async () => {
      const { pay, events } = background();
      let asked: () => void = () => undefined;
      const hanging = new Promise<void>((resolve) => {
        asked = resolve;
      });
      scene.merchant.misbehave = ({ target }) => {
        if (!target.startsWith(PREPAID_PATH)) return undefined;
        asked();
        return new Promise(() => undefined);
      };
      for (const path of ["/1", "/2"]) await pay(ORIGIN + path);
      await hanging;
      expect(await text(pay(`${ORIGIN}/3`))).to.equal("served /3");
      expect(scene.merchant.served.map(({ by }) => by)).to.deep.equal(["proof", "proof", "proof"]);
      expect(events).to.deep.equal([]);
    });

    it("are bought at a random time, which a restart does not change", async () => {
      scene = await PrepaidWorld.open({ seed: SEED });
      const first = background({ maxDelayMs: 1_000_000 });
      for (const path of ["/1", "/2"]) await first.pay(ORIGIN + path);
      await first.pay(`${ORIGIN}/3`);
      expect(first.events).to.deep.equal([]);
      expect(scene.merchant.seen.some(({ target }) => target.startsWith(PREPAID_PATH))).to.equal(false);
      // More than half of the delay has passed.
      scene.world.chain.time += 501;
      const store = await copyOf(scene.payer.store);
      scene.payer = await scene.world.wallet({ seed: SEED, store });
      const second = background({ maxDelayMs: 1_000_000 });
      const [event] = await Promise.all([second.next(), second.pay(`${ORIGIN}/4`)]);
      expect(event).to.include({ kind: "bought", count: 100 });
    });

    it("report a failure and pay singly", async () => {
      const { pay, next } = background({ maxPerHost: 999n });
      for (const path of ["/1", "/2", "/3"]) await pay(ORIGIN + path);
      const event = await next();
      expect(event.kind === "failed" && (event.error as { code: string }).code).to.equal("PREPAID_LIMIT_EXCEEDED");
      expect(await text(pay(`${ORIGIN}/4`))).to.equal("served /4");
    });
  });

  it("stay within the limits", async () => {
    const codeOf = async (...changes: Parameters<PrepaidWorld["buy"]>) => (await rejection(scene.buy(...changes))).code;
    expect(await codeOf({ maxPerHost: 999n })).to.equal("PREPAID_LIMIT_EXCEEDED");
    expect(await codeOf({}, { maxPerRequest: 9n })).to.equal("REQUEST_LIMIT_EXCEEDED");
    expect(await codeOf({}, { maxPerDay: 999n })).to.equal("DAY_LIMIT_EXCEEDED");
    expect(await codeOf({}, { maxPerHost: 999n })).to.equal("HOST_LIMIT_EXCEEDED");
    expect([await scene.paid(), await spentOn(scene.payer.store, scene.payer.now())]).to.deep.equal([0n, 0n]);
    expect(await scene.buy({ maxPerHost: 1_000n }, { maxPerDay: 1_000n }), "the control").to.include({ count: 100 });
    expect(await codeOf({ maxPerHost: 1_000n })).to.equal("PREPAID_LIMIT_EXCEEDED");
    // A thousand tokens do not fit, a hundred do.
    expect(await scene.buy({ maxPerHost: 10_999n })).to.include({ count: 100 });
    expect(await scene.buy({ maxPerHost: 12_000n })).to.include({ count: 1000 });
    expect((await rejection(scene.wrap({}, { maxPerRequest: 9n })(`${ORIGIN}/dear`))).code).to.equal(
      "REQUEST_LIMIT_EXCEEDED",
    );
    expect(scene.merchant.served).to.deep.equal([]);
  });

  it("ask the program before a pack is bought and before a token is shown", async () => {
    const asked: Offer[] = [];
    let consent = false;
    const confirmPayment = (offer: Offer) => {
      asked.push(offer);
      return consent;
    };
    expect((await rejection(scene.buy({}, { confirmPayment }))).code).to.equal("PAYMENT_DECLINED");
    expect(await scene.paid()).to.equal(0n);
    consent = true;
    await scene.buy({}, { confirmPayment });
    expect(asked.at(-1)).to.deep.include({ price: 1_000n, reserved: false });
    expect(asked.at(-1)?.tokens).to.deep.include({ count: 100, value: 10n });
    consent = false;
    const pay = scene.wrap({}, { confirmPayment });
    expect((await rejection(pay(`${ORIGIN}/asked`))).code).to.equal("PAYMENT_DECLINED");
    expect(asked.at(-1)).to.deep.include({ price: 10n, reserved: true, tokens: { count: 1, value: 10n } });
    expect((await scene.listed())?.unspent).to.equal(1_000n);
  });

  it("reveal nothing about the caller: requests for packs carry none of the caller's headers", async () => {
    const pay = scene.wrap({ buy: true, buyAfter: 1, maxDelayMs: 0, onPack: () => bought() });
    let bought: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      bought = resolve;
    });
    const secret = { authorization: "Bearer abc", cookie: "a=b", "x-api-key": "k" };
    await pay(`${ORIGIN}/private`, { headers: secret });
    await done;
    const names = new Set<string>();
    for (const { target, headers } of scene.merchant.seen)
      if (target.startsWith(PREPAID_PATH)) for (const name of headers.keys()) names.add(name);
    expect([...names].sort()).to.deep.equal(["content-type", "x-payment-proof"]);
    expect(scene.merchant.seen[0]?.headers.get("x-api-key"), "the control").to.equal("k");
  });

  describe("whose answer is lost", () => {
    it("are shown again for the same request only", async () => {
      await scene.buy();
      const pay = scene.wrap();
      let down = true;
      scene.merchant.misbehave = ({ headers }) => (down && headers.has(PREPAID_HEADER) ? AWAY() : undefined);
      expect((await anyRejection(pay(`${ORIGIN}/lost`))).message).to.equal("fetch failed");
      const shown = () => scene.merchant.seen.flatMap(({ headers }) => headers.get(PREPAID_HEADER) ?? []);
      expect(shown().length).to.equal(3);
      expect(new Set(shown()).size).to.equal(1);
      down = false;
      expect(await text(pay(`${ORIGIN}/other`))).to.equal("served /other");
      expect(new Set(shown()).size).to.equal(2);
      expect(await text(pay(`${ORIGIN}/lost`))).to.equal("served /lost");
      expect(shown().at(-1)).to.equal(shown()[0]);
      expect((await scene.listed())?.unspent).to.equal(980n);
    });

    it("stop the origin only if three in a row are refused after their answer was lost", async () => {
      await scene.buy();
      const pay = scene.wrap();
      // The server takes the token, and then the connection breaks.
      scene.merchant.misbehave = async ({ headers }, answer) => {
        if (!headers.has(PREPAID_HEADER)) return undefined;
        const response = await answer();
        return response.status === 200 ? AWAY() : response;
      };
      for (const stop of [undefined, undefined, "PREPAID_TOKEN_REFUSED"]) {
        expect((await rejection(pay(`${ORIGIN}/x`))).code).to.equal("PREPAID_TOKEN_REFUSED");
        expect(await scene.stop()).to.equal(stop);
      }
      expect([await scene.paid(), scene.merchant.used.size]).to.deep.equal([1_000n, 3]);
    });

    it("are shown again after 5xx and after 402 with Retry-After, at most three times per call", async () => {
      await scene.buy();
      const pay = scene.wrap();
      for (const busy of [
        () => new Response("busy", { status: 503 }),
        () => new Response("{}", { status: 402, headers: { "retry-after": "0" } }),
      ]) {
        let left = 4;
        const tokens: string[] = [];
        scene.merchant.misbehave = ({ headers }) => {
          const token = headers.get(PREPAID_HEADER);
          if (token === null) return undefined;
          tokens.push(token);
          left -= 1;
          return left >= 0 ? busy() : undefined;
        };
        const first = await pay(`${ORIGIN}/busy`).catch((error: { code: string }) => error.code);
        expect(first instanceof Response ? first.status : first).to.be.oneOf([503, "PREPAID_TOKEN_PENDING"]);
        expect(await text(pay(`${ORIGIN}/busy`))).to.equal("served /busy");
        expect([tokens.length, new Set(tokens).size]).to.deep.equal([5, 1]);
      }
      expect(await scene.stop()).to.equal(undefined);
    });
  });

  describe("of a pack whose answer is lost", () => {
    const isRecovery = (target: string) => target.startsWith(PREPAID_RECOVER_PATH);
    const recovers = () => scene.merchant.seen.filter(({ target }) => isRecovery(target)).length;

    it("are recovered, however late, and paid once", async () => {
      // The merchant signs, and the connection breaks; the recover endpoint is down too.
      let signed = false;
      scene.merchant.misbehave = async ({ target, headers }, answer) => {
        if (isPack(target) && headers.has("x-payment-proof")) {
          await answer();
          signed = true;
          return AWAY();
        }
        return signed && isRecovery(target) ? AWAY() : undefined;
      };
      expect((await rejection(scene.buy())).code).to.equal("PREPAID_UNREACHABLE");
      expect((await scene.listed())?.packs[0]).to.include({ state: "paid", left: 100 });
      expect((await scene.listed())?.unspent).to.equal(1_000n);
      // Longer than a proof is accepted at a purchase.
      scene.world.chain.time += 3_600;
      scene.world.chain.mine();
      scene.merchant.misbehave = () => undefined;
      const before = recovers();
      expect(await scene.buy()).to.include({ state: "ready", left: 100 });
      expect([recovers() - before, await scene.paid()]).to.deep.equal([1, 1_000n]);
      expect(await text(scene.wrap()(`${ORIGIN}/late`))).to.equal("served /late");
    });

    it("stay paid while the merchant says that it needs more time, and when it refuses", async () => {
      let status = 503;
      scene.merchant.misbehave = ({ target, headers }) => {
        const shown = headers.has("x-payment-proof") && (isPack(target) || isRecovery(target));
        return shown ? new Response("{}", { status, headers: { "retry-after": "0" } }) : undefined;
      };
      expect((await rejection(scene.buy())).code).to.equal("PREPAID_PACK_PENDING");
      status = 403;
      expect((await rejection(scene.buy())).code).to.equal("PREPAID_PACK_REFUSED");
      expect((await scene.listed())?.packs[0]).to.include({ state: "paid" });
      scene.merchant.misbehave = () => undefined;
      expect(await scene.buy(), "the control").to.include({ state: "ready" });
      expect(await scene.paid()).to.equal(1_000n);
    });
  });

  it("of a restored wallet are found again without a payment, and spent from the other end", async () => {
    scene = await PrepaidWorld.open({ seed: SEED });
    await scene.buy();
    for (let i = 0; i < 3; i += 1) await scene.wrap()(`${ORIGIN}/before/${i}`);
    scene.payer = await scene.world.wallet({ seed: SEED });
    expect((await rejection(scene.buy({ maxPerHost: 999n }))).code).to.equal("PREPAID_LIMIT_EXCEEDED");
    expect(await scene.buy()).to.include({ restored: true, left: 100, state: "ready" });
    expect(await scene.paid()).to.equal(1_000n);
    const pay = scene.wrap();
    for (let i = 0; i < 97; i += 1) await pay(`${ORIGIN}/after/${i}`);
    expect([scene.merchant.used.size, scene.merchant.served.at(-1)?.by]).to.deep.equal([100, "token"]);
    // The other three were shown before: the first refusal ends the pack and does not stop the origin.
    expect((await rejection(pay(`${ORIGIN}/end`))).code).to.equal("PREPAID_TOKEN_REFUSED");
    expect([await scene.stop(), (await scene.listed())?.unspent]).to.deep.equal([undefined, 0n]);
    expect(await text(pay(`${ORIGIN}/end`))).to.equal("served /end");
    expect(await scene.buy({ maxPerHost: 2_000n })).to.include({ restored: false, count: 100 });
  });

  it("of a restored wallet are found on request, for packs of every size", async () => {
    scene = await PrepaidWorld.open({ seed: SEED });
    for (const count of [100, 1000]) expect(await scene.buy()).to.include({ count });
    const paid = await scene.paid();
    scene.payer = await scene.world.wallet({ seed: SEED });
    const found = await restorePrepaid(scene.merchant.fetch, scene.payer, scene.options(), ORIGIN);
    expect(found.map(({ count }) => count)).to.deep.equal([100, 1000]);
    expect(await scene.paid()).to.equal(paid);
    const stranger = await PrepaidWorld.open({}, scene.world);
    expect(await restorePrepaid(scene.merchant.fetch, stranger.payer, scene.options(), ORIGIN)).to.deep.equal([]);
  });

  it("are restored ten packs at a time from a merchant that signs every pack, and more only if asked for", async () => {
    const pair = PAIRS[0]!;
    // A recovery names only the hash of a pack, so the merchant must know the messages from elsewhere.
    const messages = new Map<string, Uint8Array>();
    const derive = scene.payer.derive.bind(scene.payer);
    scene.payer.derive = async (label, bytes) => {
      const secret = await derive(label, bytes);
      const [, keyId, number] = label.split("/");
      const { key } = PAIRS.find((each) => each.key.id === keyId)!;
      for (const version of [1, 2] as const) {
        const sizes = PACK_SIZES[version];
        const { request } = preparePrepaidPack(secret, key, ORIGIN, sizes[Number(number) % sizes.length]!, 0, version);
        messages.set(sha256(request), request);
      }
      return secret;
    };
    scene.merchant.misbehave = ({ target }) => {
      const [path, query] = target.split("?");
      if (path !== PREPAID_RECOVER_PATH) return undefined;
      return new Response(sign(pair, messages.get(parsePrepaidPurchase(query).batch)!));
    };
    const restore = (confirmMore?: (found: number) => boolean) =>
      restorePrepaid(scene.merchant.fetch, scene.payer, scene.options(), ORIGIN, { confirmMore });
    const first = await restore();
    expect(first).to.have.length(10);
    const asked: number[] = [];
    const second = await restore((found) => {
      asked.push(found);
      return found < 20;
    });
    expect(second).to.have.length(20);
    expect(asked).to.deep.equal([10, 20]);
    expect(new Set([...first, ...second].map(({ id }) => id))).to.have.property("size", 30);
  });

  it("are valid until the end of the next month", async () => {
    await scene.buy();
    const pay = scene.wrap();
    scene.world.chain.time += 30 * 86_400;
    scene.world.chain.mine();
    expect(await text(pay(`${ORIGIN}/february`))).to.equal("served /february");
    expect(scene.merchant.served.at(-1)?.by).to.equal("token");
    scene.world.chain.time += 31 * 86_400;
    expect((await scene.listed())?.unspent).to.equal(0n);
  });

  it("can be dropped: the unspent ones are lost, and their pack's number is not used again", async () => {
    await scene.buy();
    expect(await dropPrepaid(scene.payer, ORIGIN)).to.equal(1_000n);
    expect(await scene.listed()).to.deep.include({ unspent: 0n });
    await scene.wrap()(`${ORIGIN}/single`);
    expect(scene.merchant.served.at(-1)?.by).to.equal("proof");
    expect(await scene.buy({ maxPerHost: 2_000n })).to.include({ state: "ready", restored: false });
    expect((await scene.listed())?.packs.map(({ state }) => state)).to.deep.equal(["dropped", "ready"]);
  });

  describe("in each store", () => {
    const folder = temporaryFolder("prepaid");
    const stores: Record<string, () => Promise<Store>> = {
      MemoryStore: async () => new MemoryStore(),
      SqliteStore: async () => new SqliteStore(join(folder, "prepaid.db")),
      IndexedDbStore: () => IndexedDbStore.open("prepaid"),
    };
    for (const [title, open] of Object.entries(stores))
      it(`survive a restart, and are not stored in clear text: ${title}`, async () => {
        const store = await open();
        scene = await PrepaidWorld.open({ seed: SEED, store });
        await scene.buy();
        await scene.wrap()(`${ORIGIN}/1`);
        const reopened = title === "MemoryStore" ? await copyOf(store) : await reopen(store, open);
        scene.payer = await scene.world.wallet({ seed: SEED, store: reopened });
        await Promise.all([2, 3].map((i) => scene.wrap()(`${ORIGIN}/${i}`)));
        expect([scene.merchant.used.size, (await scene.listed())?.unspent]).to.deep.equal([3, 970n]);
        const everything = JSON.stringify(await reopened.list(""));
        for (const nonce of scene.merchant.used.keys()) expect(everything).to.not.include(nonce.slice(2));
        await reopened.close();
      });
  });
});

const reopen = async (store: Store, open: () => Promise<Store>): Promise<Store> => {
  await store.close();
  return open();
};

/** What is on disk, for another process. */
async function copyOf(store: Store): Promise<Store> {
  const copy = new MemoryStore();
  for (const { key, value } of await store.list("")) await copy.put(key, value);
  return copy;
}
