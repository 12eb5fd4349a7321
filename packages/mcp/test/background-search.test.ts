// The search that a server runs while no tool uses the wallet.

import { setTimeout as sleep } from "node:timers/promises";
import type { Month } from "@sotto/protocol";
import { type SearchOptions, type Wallet, WalletError, type WalletNote } from "@sotto/wallet";
import { expect } from "chai";
import { searchInBackground } from "../src/agent/background-search.ts";
import { SharedWallet } from "../src/agent/wallet-access.ts";

const MAY = Date.parse("2027-05-20T00:00Z") / 1000;
const found = (month: string) => ({ month: month as Month, timestamp: MAY }) as WalletNote;

/** A wallet with these ranges to search, and the notes that each has. */
class Searched {
  readonly #ranges: WalletNote[][];
  readonly #notes: WalletNote[] = [found("2027-05")];
  readonly events: string[] = [];
  /** Awaited in each range. */
  during: (signal: AbortSignal) => Promise<unknown> = async () => undefined;

  constructor(...ranges: WalletNote[][]) {
    this.#ranges = ranges;
  }

  notes = () => this.#notes;
  scan = async () => void this.events.push("scan");
  close = async () => void this.events.push("close");

  async search({ signal, onProgress }: SearchOptions): Promise<number> {
    let count = 0;
    for (;;) {
      signal?.throwIfAborted();
      const notes = this.#ranges[0];
      if (notes === undefined) return count;
      await this.during(signal!);
      signal?.throwIfAborted();
      this.#ranges.shift();
      this.events.push("range");
      this.#notes.push(...notes);
      count += notes.length;
      onProgress?.({ block: 1, to: 2 });
    }
  }
}

describe("the search of a server", () => {
  const [counts, errors]: [number[], unknown[]] = [[], []];
  beforeEach(() => {
    counts.length = 0;
    errors.length = 0;
  });

  /** Runs the search for some milliseconds. */
  async function run(shared: SharedWallet, ms: number, during: () => Promise<unknown> = async () => undefined) {
    const stop = new AbortController();
    const searching = searchInBackground({
      ...{ shared, signal: stop.signal, pauseMs: 20, everyMs: 60_000 },
      onFound: (count) => counts.push(count),
      onError: (error) => errors.push(error),
    });
    await during();
    await sleep(ms);
    stop.abort();
    await searching;
    await shared.close();
  }
  const shareOf = (wallet: Searched, idleMs = 1) => new SharedWallet(async () => wallet as unknown as Wallet, idleMs);

  it("takes one range at a time, and closes the wallet in between for other programs", async () => {
    const wallet = new Searched([], [found("2027-03"), found("2027-04")], [found("2027-03")]);
    await run(shareOf(wallet), 300);
    expect(counts).to.deep.equal([2, 1]);
    expect(errors).to.deep.equal([]);
    const turn = ["scan", "range", "close"];
    expect(wallet.events).to.deep.equal([...turn, ...turn, ...turn, "scan", "close"]);
  });

  it("stops as soon as a tool uses the wallet, and continues afterwards", async () => {
    const wallet = new Searched([found("2027-03")]);
    let begun = () => {};
    const searching = new Promise<void>((resolve) => {
      begun = resolve;
    });
    wallet.during = (signal) => {
      begun();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const shared = shareOf(wallet);
    await run(shared, 200, async () => {
      await searching;
      await shared.use(async () => {
        await sleep(50);
        expect(wallet.events).to.deep.equal(["scan"]);
        wallet.during = async () => undefined;
      }, new AbortController().signal);
    });
    expect([counts, errors]).to.deep.equal([[1], []]);
  });

  it("waits while another program has the wallet, and reports other failures once", async () => {
    let opened = 0;
    const busy = new WalletError("WALLET_BUSY", "another program has the wallet open");
    const shared = new SharedWallet(async () => {
      opened += 1;
      throw opened < 3 ? busy : new Error("the disk is full");
    }, 1);
    await run(shared, 200);
    expect(opened).to.equal(3);
    expect(errors.map(String)).to.deep.equal(["Error: the disk is full"]);
  });
});
