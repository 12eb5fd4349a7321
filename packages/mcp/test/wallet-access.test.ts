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
