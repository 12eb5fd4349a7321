// What a malicious merchant, mirror or server in between can try against prepaid tokens. Each attack has its control.

import { wrapFetch } from "@sotto/client";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Wallet as Account, hexlify } from "ethers";
import { resumePrepaid } from "../../src/client/list.ts";
import {
  encodePrepaidKey,
  encodeSignedSchedule,
  PREPAID_HEADER,
  PREPAID_KEYS_PATH,
  PREPAID_PATH,
  PREPAID_RECOVER_PATH,
  type PrepaidSchedule,
  type WireSignedSchedule,
} from "../../src/index.ts";
import { PAIRS, PrepaidMerchant, signedSchedule } from "./support/merchant.ts";
import { ORIGIN, PrepaidWorld } from "./support/world.ts";

const isPack = (target: string) => target.startsWith(`${PREPAID_PATH}?`);
const MIRRORS = ["https://mirror-a.example/zk", "https://mirror-b.example/zk"];

describe("a prepaid attack", function () {
  slow(this, "packs of up to 1000 tokens are blinded, signed and verified");
  let scene: PrepaidWorld;
  beforeEach(async () => {
    scene = await PrepaidWorld.open();
  });

  const schedule = async (changes: Partial<PrepaidSchedule> = {}, account = scene.merchant.account) => {
    const { epoch } = scene.merchant;
    const terms = { origin: ORIGIN, firstEpoch: epoch, values: [10n], keys: [[PAIRS[0]!.key], [PAIRS[1]!.key]] };
    return encodeSignedSchedule(await signedSchedule(account, { ...terms, ...changes }));
  };
  /** Buys a pack, which must fail without a payment. @returns the error's code */
  async function refused(prepaid: Parameters<PrepaidWorld["buy"]>[0] = {}): Promise<string> {
    const { code } = await rejection(scene.buy(prepaid));
    expect(await scene.paid()).to.equal(0n);
    return code;
  }
  const shownTokens = () => scene.merchant.seen.flatMap(({ headers }) => headers.get(PREPAID_HEADER) ?? []);

  describe("on keys", () => {
    it("with a second key for a value and epoch stops the origin, and the wallet keeps the evidence", async () => {
      const first = scene.merchant.schedules;
      await scene.buy();
      const second = await schedule({ keys: [[PAIRS[2]!.key], [PAIRS[1]!.key]] });
      scene.merchant.schedules = [second];
      expect((await rejection(scene.buy())).code).to.equal("PREPAID_KEY_CONFLICT");
      expect((await scene.listed())?.stopped?.evidence).to.deep.equal([...first, second]);
      expect((await rejection(scene.buy())).code).to.equal("PREPAID_STOPPED");
      // Resuming clears the stop, not the pinned key.
      await resumePrepaid(scene.payer, ORIGIN);
      expect((await rejection(scene.buy())).code).to.equal("PREPAID_KEY_CONFLICT");
      await resumePrepaid(scene.payer, ORIGIN);
      // Control: an addition of a later epoch with the same keys is no conflict.
      scene.merchant.schedules = [
        ...first,
        await schedule({ firstEpoch: scene.merchant.laterEpoch(1), keys: [[PAIRS[1]!.key], [PAIRS[3]!.key]] }),
      ];
      expect(await scene.buy({ maxPerHost: 2_000n })).to.include({ state: "ready" });
      expect(await scene.paid()).to.equal(2_000n);
    });

    it("with two keys in one answer is refused", async () => {
      scene.merchant.schedules = [
        ...scene.merchant.schedules,
        await schedule({ keys: [[PAIRS[2]!.key], [PAIRS[1]!.key]] }),
      ];
      expect(await refused()).to.equal("PREPAID_KEY_CONFLICT");
    });

    it("with a second key in a 402 stops the origin, and the request is paid singly", async () => {
      await scene.buy();
      const pay = scene.wrap();
      scene.merchant.misbehave = ({ target, headers }) =>
        headers.has("x-payment-proof") ? undefined : scene.merchant.challenge(target, 10n, PAIRS[2]!.key.id);
      expect(await (await pay(`${ORIGIN}/x`)).text()).to.equal("served /x");
      expect([shownTokens(), await scene.stop()]).to.deep.equal([[], "PREPAID_KEY_CONFLICT"]);
    });

    it("with a key of a later epoch buys nothing", async () => {
      scene.merchant.schedules = [await schedule({ firstEpoch: scene.merchant.laterEpoch(1) })];
      expect(await refused()).to.equal("PREPAID_NOT_OFFERED");
      // Control: the same schedule, once its epoch has begun.
      scene.world.chain.time += 20 * 86_400;
      scene.world.chain.mine();
      scene.merchant.schedules = [await schedule({ firstEpoch: scene.merchant.epoch })];
      expect(await scene.buy()).to.include({ state: "ready" });
    });

    it("with a bad modulus or encoding is refused before anything is compared or paid", async () => {
      const honest = await schedule();
      const good = PAIRS[0]!.key.modulus;
      const spki = (modulus: bigint) => hexlify(encodePrepaidKey(modulus));
      const keys = {
        even: spki(good - 1n),
        "of 2047 bits": spki(good >> 1n),
        "with the exponent 3": spki(good).replace(/0203010001$/, "0203000003"),
        "as rsaEncryption": spki(good).replace("06092a864886f70d01010a", "06092a864886f70d010101"),
        "too short": spki(good).slice(0, -2),
      };
      for (const [title, key] of Object.entries(keys)) {
        const tampered = { ...honest, schedule: { ...honest.schedule, keys: [[key], honest.schedule.keys[1]!] } };
        scene.merchant.schedules = [tampered];
        expect(await refused(), title).to.equal("PREPAID_SCHEDULE_REFUSED");
      }
      scene.merchant.schedules = [honest];
      expect(await scene.buy(), "the control").to.include({ state: "ready" });
    });

    it("with another chain, pool, origin, signer or format is refused", async () => {
      const stranger = Account.createRandom();
      const wrong = {
        chain: [await schedule({ chainId: 1n })],
        pool: [await schedule({ pool: `0x${"12".repeat(20)}` })],
        origin: [await schedule({ origin: "https://other.example" })],
        signer: [{ ...(await schedule()), signature: (await schedule({}, stranger)).signature }],
        "too many": Array.from({ length: 5 }, () => scene.merchant.schedules[0]!),
        null: null as unknown as [],
      };
      const honest = scene.merchant.schedules;
      for (const [title, schedules] of Object.entries(wrong)) {
        scene.merchant.schedules = schedules as WireSignedSchedule[];
        expect(await refused(), title).to.equal("PREPAID_SCHEDULE_REFUSED");
      }
      // A schedule of another wallet is well signed, but the pack's payment would go to the merchant of the 402.
      scene.merchant.schedules = [await schedule({}, stranger)];
      expect(await refused()).to.equal("PREPAID_NOT_OFFERED");
      scene.merchant.misbehave = ({ target }) =>
        target === PREPAID_KEYS_PATH ? new Response(null, { status: 302, headers: { location: "/x" } }) : undefined;
      expect(await refused()).to.equal("PREPAID_NOT_OFFERED");
      scene.merchant.misbehave = ({ target }) =>
        target === PREPAID_KEYS_PATH ? new Response(new Uint8Array(1 << 20)) : undefined;
      expect(await refused()).to.equal("PREPAID_UNREACHABLE");
      scene.merchant.misbehave = () => undefined;
      scene.merchant.schedules = honest;
      expect(await scene.stop()).to.equal(undefined);
      expect(await scene.buy({}), "the control").to.include({ state: "ready" });
    });

    it("with another price for a pack pays nothing", async () => {
      const { merchant } = scene;
      merchant.misbehave = ({ target }) => (isPack(target) ? merchant.challenge(target, 1_001n) : undefined);
      expect(await refused()).to.equal("PREPAID_NOT_OFFERED");
      merchant.misbehave = () => undefined;
      expect(await scene.buy(), "the control").to.include({ state: "ready" });
    });
  });

  describe("with mirrors to compare keys", () => {
    /** Mirrors as a fetch: schedules by mirror. Mirrors keep what is pushed, except a second key. */
    function mirrors(kept: Record<string, WireSignedSchedule[]>, answer?: (url: URL) => Response | undefined) {
      const pushed: string[] = [];
      const send: typeof fetch = async (input, init) => {
        const url = new URL(String(input));
        const base = MIRRORS.find((mirror) => url.href.startsWith(mirror));
        if (base === undefined) return scene.merchant.fetch(input, init);
        const other = answer?.(url);
        if (other !== undefined) return other;
        kept[base] ??= [];
        if (init?.method === "POST") {
          pushed.push(base);
          const signed = JSON.parse(String(init.body)) as WireSignedSchedule;
          const taken = kept[base].some(({ schedule: { keys } }) => keys[0]![0] !== signed.schedule.keys[0]![0]);
          if (taken) return Response.json({ code: "PREPAID_SCHEDULE_CONFLICT" }, { status: 409 });
          kept[base].push(signed);
          return Response.json({ accepted: 2, known: 0 }, { status: 201 });
        }
        expect(Object.fromEntries(url.searchParams)).to.deep.equal({
          wallet: scene.merchant.account.address.toLowerCase(),
          origin: ORIGIN,
        });
        return Response.json({ schedules: kept[base].map((each) => ({ ...each, receivedAt: 1_800_000_000 })) });
      };
      return { send, pushed };
    }

    it("stops the origin if one mirror has another key, and both schedules are kept as evidence", async () => {
      const other = await schedule({ keys: [[PAIRS[2]!.key], [PAIRS[1]!.key]] });
      const { send, pushed } = mirrors({ [MIRRORS[0]!]: scene.merchant.schedules, [MIRRORS[1]!]: [other] });
      expect(await refused({ mirrors: MIRRORS, fetch: send })).to.equal("PREPAID_KEY_CONFLICT");
      expect((await scene.listed())?.stopped?.evidence).to.deep.equal([other, ...scene.merchant.schedules]);
      expect(pushed).to.deep.equal([]);
    });

    it("is detected by the next payer, because a mirror that lacked the key got it", async () => {
      const kept: Record<string, WireSignedSchedule[]> = { [MIRRORS[0]!]: [...scene.merchant.schedules] };
      const { send, pushed } = mirrors(kept);
      expect(await scene.buy({ mirrors: MIRRORS, fetch: send })).to.include({ state: "ready" });
      expect([pushed, kept[MIRRORS[1]!]]).to.deep.equal([[MIRRORS[1]], scene.merchant.schedules]);
      // The merchant has another key for the next payer.
      const next = await PrepaidWorld.open({}, scene.world);
      next.merchant.schedules = [
        encodeSignedSchedule(
          await signedSchedule(scene.merchant.account, {
            origin: ORIGIN,
            firstEpoch: scene.merchant.epoch,
            values: [10n],
            keys: [[PAIRS[3]!.key], [PAIRS[4]!.key]],
          }),
        ),
      ];
      const both: typeof fetch = (input, init) =>
        String(input).startsWith(ORIGIN) ? next.merchant.fetch(input, init) : send(input, init);
      expect((await rejection(next.buy({ mirrors: MIRRORS, fetch: both }))).code).to.equal("PREPAID_KEY_CONFLICT");
      expect(await next.paid()).to.equal(0n);
    });

    it("by a mirror that invents a schedule does not stop the merchant's origin", async () => {
      const forged = { ...(await schedule({ keys: [[PAIRS[2]!.key], [PAIRS[1]!.key]] })) };
      const { signature } = await schedule({ keys: [[PAIRS[2]!.key], [PAIRS[1]!.key]] }, Account.createRandom());
      const { send } = mirrors({ [MIRRORS[0]!]: [{ ...forged, signature }, ...scene.merchant.schedules] });
      expect(await scene.buy({ mirrors: [MIRRORS[0]!], fetch: send })).to.include({ state: "ready" });
    });

    it("buys nothing if a mirror answers nonsense, which is the mirror's fault", async () => {
      const [honest] = scene.merchant.schedules;
      for (const answer of [
        null,
        {},
        { schedules: [{ ...honest, signature: "0x1" }] },
        { schedules: Array.from({ length: 25 }, () => honest) },
      ]) {
        const { send } = mirrors({}, () => Response.json(answer));
        const error = await rejection(scene.buy({ mirrors: MIRRORS, fetch: send }));
        expect([error.code, error.details]).to.deep.equal(["PREPAID_MIRROR_FAILED", { mirror: MIRRORS[0] }]);
        expect(error.message).to.match(/^the mirror .*; nothing was paid$/);
        expect([await scene.paid(), await scene.stop()]).to.deep.equal([0n, undefined]);
      }
    });

    it("buys nothing if a mirror does not answer, and the request is paid singly", async () => {
      const down = mirrors({}, () => new Response("{}", { status: 503 }));
      expect(await refused({ mirrors: MIRRORS, fetch: down.send })).to.equal("PREPAID_MIRROR_FAILED");
      const forgetful = mirrors({}, (url) =>
        url.search === "" ? Response.json({ accepted: 2, known: 0 }) : undefined,
      );
      expect(await refused({ mirrors: MIRRORS, fetch: forgetful.send })).to.equal("PREPAID_MIRROR_FAILED");
      expect(await scene.stop()).to.equal(undefined);
      await scene.wrap({ mirrors: MIRRORS, fetch: down.send })(`${ORIGIN}/x`);
      expect(scene.merchant.served).to.deep.equal([{ target: "/x", by: "proof" }]);
    });
  });

  it("with one wrong signature voids the whole pack and stops the origin", async () => {
    scene.merchant.misbehave = async ({ target, headers }, answer) => {
      if (!isPack(target) || !headers.has("x-payment-proof")) return undefined;
      const bytes = new Uint8Array(await (await answer()).arrayBuffer());
      bytes[99 * 256 + 200]! ^= 1;
      return new Response(bytes);
    };
    expect((await rejection(scene.buy())).code).to.equal("PREPAID_SIGNATURES_INVALID");
    expect(await scene.listed()).to.deep.include({ unspent: 0n });
    expect((await scene.listed())?.packs[0]).to.include({ state: "void", left: 0 });
    expect(await scene.stop()).to.equal("PREPAID_SIGNATURES_INVALID");
    scene.merchant.misbehave = () => undefined;
    await scene.wrap()(`${ORIGIN}/x`);
    expect([shownTokens(), scene.merchant.served.at(-1)?.by]).to.deep.equal([[], "proof"]);
  });

  it("by another origin with the same key gets no token", async () => {
    await scene.buy();
    const evil = await PrepaidMerchant.open(scene.world, await scene.world.wallet(), "https://evil.example");
    const pay = wrapFetch(evil.fetch, scene.payer, scene.options());
    expect(await (await pay("https://evil.example/x")).text()).to.equal("served /x");
    expect(evil.served).to.deep.equal([{ target: "/x", by: "proof" }]);
    // Nor does another port, or the same host without TLS.
    for (const origin of ["https://data.example:8443", "https://data.example."]) {
      const near = await PrepaidMerchant.open(scene.world, await scene.world.wallet(), origin);
      await wrapFetch(near.fetch, scene.payer, scene.options())(`${origin}/x`);
      expect(near.served, origin).to.deep.equal([{ target: "/x", by: "proof" }]);
    }
    await scene.wrap()(`${ORIGIN}/x`);
    expect(scene.merchant.served.at(-1)?.by, "the control").to.equal("token");
  });

  it("by a redirect gets no token: the client returns the redirect and sends nothing to its target", async () => {
    await scene.buy();
    scene.merchant.misbehave = ({ headers }) =>
      headers.has(PREPAID_HEADER)
        ? new Response(null, { status: 302, headers: { location: "https://evil.example/x" } })
        : undefined;
    const asked: (RequestInit | undefined)[] = [];
    const send: typeof fetch = (input, init) => {
      asked.push(init);
      expect(String(input).startsWith(ORIGIN)).to.equal(true);
      return scene.merchant.fetch(input, init);
    };
    const pay = wrapFetch(send, scene.payer, scene.options());
    const response = await pay(`${ORIGIN}/moved`, { redirect: "follow" });
    expect([response.status, response.headers.get("location")]).to.deep.equal([302, "https://evil.example/x"]);
    const withToken = asked.filter((init) => new Headers(init?.headers).has(PREPAID_HEADER));
    expect(withToken.map((init) => init?.redirect)).to.deep.equal(["manual"]);
    expect((await scene.listed())?.unspent).to.equal(990n);
    // A 402 that came through a redirect to another origin gets no token either.
    scene.merchant.misbehave = ({ target }) => {
      const response = scene.merchant.challenge(target, 10n, scene.merchant.keyId);
      return Object.defineProperties(response, {
        redirected: { value: true },
        url: { value: "https://evil.example/x" },
      });
    };
    expect((await rejection(scene.wrap()(`${ORIGIN}/moved`))).code).to.equal("CHALLENGE_REDIRECTED");
    expect(shownTokens().length).to.equal(1);
  });

  it("by a merchant that always answers 402 pays nothing more, and stops prepaid tokens until the owner decides", async () => {
    await scene.buy();
    const before = await scene.paid();
    const pay = scene.wrap();
    scene.merchant.misbehave = ({ target }) =>
      target.startsWith(PREPAID_PATH) ? undefined : scene.merchant.challenge(target, 10n, scene.merchant.keyId);
    expect((await rejection(pay(`${ORIGIN}/loop`))).code).to.equal("PREPAID_TOKEN_REFUSED");
    expect([shownTokens().length, await scene.paid(), await scene.stop()]).to.deep.equal([
      1,
      before,
      "PREPAID_TOKEN_REFUSED",
    ]);
    scene.merchant.misbehave = () => undefined;
    await pay(`${ORIGIN}/single`);
    expect(scene.merchant.served.at(-1)).to.deep.equal({ target: "/single", by: "proof" });
    expect((await rejection(scene.buy())).code).to.equal("PREPAID_STOPPED");
    await resumePrepaid(scene.payer, ORIGIN);
    await pay(`${ORIGIN}/again`);
    expect(scene.merchant.served.at(-1)).to.deep.equal({ target: "/again", by: "token" });
    expect(new Set(shownTokens()).size).to.equal(2);
  });

  it("by a merchant that hangs ends with the caller's signal, and nothing is lost", async () => {
    for (const path of [PREPAID_KEYS_PATH, PREPAID_RECOVER_PATH, `${PREPAID_PATH}?`]) {
      const controller = new AbortController();
      const why = new Error("enough");
      scene.merchant.misbehave = ({ target, headers }) => {
        if (!target.startsWith(path) || (path.endsWith("?") && !headers.has("x-payment-proof"))) return undefined;
        controller.abort(why);
        return undefined;
      };
      const error = await scene.buy({}, {}, controller.signal).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error, path).to.equal(why);
    }
    scene.merchant.misbehave = () => undefined;
    expect(await scene.buy()).to.include({ state: "ready" });
    expect(await scene.paid()).to.equal(1_000n);
  });
});
