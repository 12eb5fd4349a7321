// A service that lies or fails at the worst moment. The client relies on the chain, and pays nothing twice.

import { openPurchases, type PayingFetch, spentOn, wrapFetch } from "@sotto/client";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { openWallet, openWorld, payerWith, until, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { ServiceProxy } from "./support/proxy.ts";

const PRICE = 10_000n;
const HASH = `0x${"ab".repeat(32)}`;

describe("a lying service", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let proxy: ServiceProxy;
  let server: SmallServer;
  let wallet: Wallet;
  const clock = clockWithin(DAY_MS);
  let pay: PayingFetch;
  /** Gives up soon if it does not find a payment on the chain. */
  let hasty: PayingFetch;
  before(async () => {
    world = await openWorld();
    proxy = await ServiceProxy.open(world.serviceUrl);
    server = await SmallServer.open(world, await openWallet(world), { price: PRICE, serviceUrl: proxy.url });
    wallet = await payerWith(
      world,
      Array.from({ length: 12 }, () => 20_000n),
      { clock },
    );
    const options = { services: [proxy.url], maxPerRequest: PRICE };
    pay = wrapFetch(fetch, wallet, options);
    hasty = wrapFetch(fetch, wallet, { ...options, chainTimeoutMs: 400 });
  });
  after(async () => {
    await server?.close();
    await proxy?.close();
  });
  beforeEach(() => {
    proxy.lie = async () => undefined;
    proxy.asked.length = 0;
  });
  const settled = async () => {
    await wallet.scan();
    return wallet.history().filter(({ state }) => state === "settled").length;
  };
  const success = { status: "success", txSignature: HASH, blockNumber: 7, gasFeePaidBy: `0x${"fe".repeat(20)}` };
  /** Expects that `url` is now served, with exactly one transaction since `before`. */
  const isPaidOnce = async (url: string, before: number) => {
    proxy.lie = async () => undefined;
    expect((await pay(url)).status).to.equal(200);
    expect(await settled()).to.equal(before + 1);
  };

  it("settles nothing with a malformed token or a token for another payment", async () => {
    const before = await settled();
    const url = `${server.url}/token`;
    let kept = "";
    for (const token of [
      () => "a.b.c",
      () => `x.${Buffer.from("{}").toString("base64url")}.y`,
      () => `x.${Buffer.from("null").toString("base64url")}.y`,
      (honest: string) => {
        const [head, payload = "", signature] = honest.split(".");
        const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
        const other = { ...claims, resourceHash: HASH };
        return [head, Buffer.from(JSON.stringify(other)).toString("base64url"), signature].join(".");
      },
    ]) {
      proxy.lie = async ({ path, forward }) => {
        if (path !== "verify") return undefined;
        const { status, body } = await forward();
        kept = String(body["paymentToken"]);
        return { status, body: { ...body, paymentToken: token(kept) } };
      };
      expect((await rejection(pay(url))).code).to.equal("TOKEN_MISMATCH");
    }
    expect(proxy.asked).to.not.include("settle");
    await isPaidOnce(url, before);
  });

  it("is not trusted if its transaction does not contain the payment", async () => {
    const before = await settled();
    const url = `${server.url}/invented`;
    const another = wallet.history().find(({ state }) => state === "settled")!.transactionHash!;
    for (const txSignature of [HASH, another]) {
      proxy.lie = async ({ path }) =>
        path === "settle" ? { status: 200, body: { ...success, txSignature } } : undefined;
      const shown = server.shown;
      const error = await rejection(hasty(url));
      expect([error.code, error.details["txSignature"]]).to.deep.equal(["SETTLEMENT_NOT_FOUND", txSignature]);
      expect(server.shown).to.equal(shown);
    }
    expect(await settled()).to.equal(before);
    await isPaidOnce(url, before);
  });

  it("is corrected from the chain if its transaction hash is wrong", async () => {
    const before = await settled();
    proxy.lie = async ({ path, forward }) => {
      if (path !== "settle") return undefined;
      const { status, body } = await forward();
      return { status, body: { ...body, txSignature: HASH } };
    };
    expect((await pay(`${server.url}/other-transaction`)).status).to.equal(200);
    expect(await settled()).to.equal(before + 1);
  });

  it("cannot hide a settled payment by reporting a failure", async () => {
    for (const lie of [
      { status: 200, body: { status: "failed", txSignature: "0x", reason: "EXPIRED" } },
      { status: 200, body: { status: "failed", txSignature: "0x", reason: "NULLIFIER_SPENT" } },
      { status: 500, body: { code: "INTERNAL" } },
      { status: 410, body: { code: "TOKEN_EXPIRED" } },
      "hang up" as const,
    ]) {
      const before = await settled();
      proxy.lie = async ({ path, forward }) => {
        if (!path.startsWith("settle")) return undefined;
        await forward();
        return lie;
      };
      const url = `${server.url}/settled/${typeof lie === "string" ? lie.replace(" ", "-") : JSON.stringify(lie.body).length}`;
      expect((await pay(url)).status).to.equal(200);
      expect(await settled()).to.equal(before + 1);
    }
  });

  it("may settle an old attempt later without harm, because every attempt spends the same note", async () => {
    const before = await settled();
    const url = `${server.url}/kept`;
    const kept: (() => Promise<unknown>)[] = [];
    proxy.lie = async ({ path, forward }) => {
      if (path !== "settle") return undefined;
      kept.push(forward);
      return { status: 200, body: { status: "failed", txSignature: "0x", reason: "EXPIRED" } };
    };
    expect((await rejection(hasty(url))).code).to.equal("SETTLEMENT_UNKNOWN");
    expect(kept.length).to.be.greaterThan(1);
    // The service submits all attempts, but only one can settle. The service has replaced the tokens of the older
    // attempts.
    for (const forward of kept) await forward();
    await until(async () => (await settled()) === before + 1);
    expect((await pay(url)).status).to.equal(200);
    expect(await settled()).to.equal(before + 1);
    const held = wallet.notes().filter(({ state }) => state === "held");
    expect(held).to.deep.equal([]);
  });

  it("is not trusted if it reports success too early: the client sends its proof once the payment is on chain", async () => {
    const shown = server.shown;
    proxy.lie = async ({ path }) =>
      path === "settle"
        ? { status: 202, body: { status: "pending", txSignature: "0x", id: "7" } }
        : path === "settle/7"
          ? { status: 200, body: { status: "success" } }
          : undefined;
    expect((await rejection(hasty(`${server.url}/pending`))).code).to.equal("SETTLEMENT_UNKNOWN");
    expect(server.shown).to.equal(shown);
    await isPaidOnce(`${server.url}/pending`, await settled());
  });

  it("causes an error with its reason, and no payment, if it refuses", async () => {
    const before = await settled();
    const spent = await spentOn(wallet.store, clock());
    proxy.lie = async ({ path }) =>
      path === "verify"
        ? {
            status: 200,
            body: { valid: false, paymentToken: "", expiresIn: 0, reason: "AMOUNT_TOO_SMALL", message: "no" },
          }
        : undefined;
    const error = await rejection(pay(`${server.url}/small`));
    expect([error.code, error.details["reason"]]).to.deep.equal(["PAYMENT_INVALID", "AMOUNT_TOO_SMALL"]);
    expect(await settled()).to.equal(before);
    expect(await spentOn(wallet.store, clock())).to.equal(spent + PRICE);
    expect((await openPurchases(wallet)).map(({ state }) => state)).to.deep.equal(["paying"]);
    await isPaidOnce(`${server.url}/small`, before);
  });

  it("gets the same proof again if its node lags behind", async () => {
    const before = await settled();
    let times = 2;
    const bundles = new Set<string>();
    proxy.lie = async ({ path, body }) => {
      if (path !== "verify") return undefined;
      bundles.add(body);
      return times-- > 0
        ? {
            status: 200,
            body: { valid: false, paymentToken: "", expiresIn: 0, reason: "UNKNOWN_ROOT", message: "not yet" },
          }
        : undefined;
    };
    expect((await pay(`${server.url}/behind`)).status).to.equal(200);
    expect([bundles.size, await settled()]).to.deep.equal([1, before + 1]);
  });
});
