// The wallet between calls.

import { anyRejection } from "@sotto/test-kit/rejection";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { SharedWallet } from "../src/agent/wallet-access.ts";

/** Time until an idle wallet is closed: longer than these tests take. */
const IDLE_MS = 60_000;

describe("a shared wallet", () => {
  it("is reported if it cannot be closed, and opened again for the next call", async () => {
    const failure = new Error("the disk is full");
    const wallet = { close: () => Promise.reject(failure) } as Wallet;
    const errors: unknown[] = [];
    let opened = 0;
    const open = async () => {
      opened += 1;
      return wallet;
    };
    const shared = new SharedWallet(open, IDLE_MS, (error) => errors.push(error));
    const { signal } = new AbortController();
    for (let uses = 1; uses <= 2; uses += 1) {
      expect(await shared.use(async (used) => used, signal)).to.equal(wallet);
      await shared.close();
      expect([opened, errors.length]).to.deep.equal([uses, uses]);
    }
    expect(errors).to.deep.equal([failure, failure]);
  });

  it("that takes long to open delays no call beyond its signal, and is open for the others", async () => {
    const wallet = { close: async () => undefined } as Wallet;
    let opened = (_: Wallet) => {};
    const shared = new SharedWallet(() => new Promise((resolve) => (opened = resolve)), IDLE_MS);
    const stop = new AbortController();
    const reason = new Error("enough");
    const late = shared.use(async () => "used", stop.signal);
    const patient = shared.use(async (used) => used, new AbortController().signal);
    stop.abort(reason);
    expect(await anyRejection(late)).to.equal(reason);
    await Promise.resolve();
    opened(wallet);
    expect(await patient).to.equal(wallet);
    await shared.close();
  });

  it("is attended to from the first call that spends until it is closed", async () => {
    const events: string[] = [];
    const wallet = { close: async () => void events.push("close") } as unknown as Wallet;
    const attachment = { name: "origins", header: "x-origins", show: async () => undefined };
    let fails = true;
    const attend = async (attended: Wallet) => {
      expect(attended).to.equal(wallet);
      events.push("attend");
      if (fails) throw new Error("the store is damaged");
      return { attachments: [attachment], end: async () => void events.push("end") };
    };
    const shared = new SharedWallet(async () => wallet, IDLE_MS, undefined, attend);
    const { signal } = new AbortController();
    await shared.whileIdle(async () => void events.push("search"), signal);
    expect(events).to.deep.equal(["search"]);
    await shared.use(async () => void events.push("read"), signal);
    expect(events).to.deep.equal(["search", "read"]);
    const use = () => shared.use(async (_, attend) => (await attend()).map(({ name }) => name), signal);
    expect(String(await anyRejection(use()))).to.include("damaged");
    fails = false;
    expect(await Promise.all([use(), use()])).to.deep.equal([["origins"], ["origins"]]);
    await shared.close();
    expect(events).to.deep.equal(["search", "read", "attend", "attend", "end", "close"]);
  });

  it("is closed even if what attends to it fails at its end", async () => {
    const failure = new Error("the set is gone");
    const [errors, closed]: [unknown[], string[]] = [[], []];
    const wallet = { close: async () => void closed.push("close") } as unknown as Wallet;
    const shared = new SharedWallet(
      async () => wallet,
      IDLE_MS,
      (error) => errors.push(error),
      async () => ({ attachments: [], end: () => Promise.reject(failure) }),
    );
    await shared.use((_, attend) => attend(), new AbortController().signal);
    await shared.close();
    expect([errors, closed]).to.deep.equal([[failure], ["close"]]);
  });

  it("is not opened any further once no call waits for it, and the next call opens it again", async () => {
    const wallet = { close: async () => undefined } as Wallet;
    const signals: AbortSignal[] = [];
    const open = (signal: AbortSignal): Promise<Wallet> => {
      signals.push(signal);
      if (signals.length > 1) return Promise.resolve(wallet);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const shared = new SharedWallet(open, IDLE_MS);
    const stop = new AbortController();
    const late = shared.use(async () => "used", stop.signal);
    await Promise.resolve();
    stop.abort(new Error("enough"));
    await anyRejection(late);
    expect(await shared.use(async (used) => used, new AbortController().signal)).to.equal(wallet);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, false]);
    await shared.close();
  });
});
