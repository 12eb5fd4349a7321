// The start of a paywall whose chain or service cannot be reached. No test waits: each ends the pauses itself.
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { PaywallError } from "../src/errors.ts";
import type { Checks } from "../src/paywall/checks.ts";
import type { PaywallEvent } from "../src/paywall/events.ts";
import { createReporter, Opening } from "../src/paywall/opening.ts";
import type { PoolToken } from "../src/paywall/pool-token.ts";

const TOKEN: PoolToken = { token: `0x${"11".repeat(20)}`, decimals: 6 };
const CHECKS = {} as Checks;
const unreachable = (code: "CHAIN_UNAVAILABLE" | "SERVICE_UNAVAILABLE") => new PaywallError(code, `${code}: no answer`);

/** An opening whose chain and service fail a given number of times before they answer. */
function open(
  chain: readonly Error[],
  service: readonly Error[],
  report?: (event: PaywallEvent) => void,
  clock: readonly Error[] = [],
) {
  const events: PaywallEvent[] = [];
  const pauses: number[] = [];
  const asked = { chain: 0, service: 0, clock: 0 };
  let resume = () => {};
  const opening = new Opening({
    async readToken() {
      const error = chain[asked.chain++];
      if (error !== undefined) throw error;
      return TOKEN;
    },
    async openChecks() {
      const error = service[asked.service++];
      if (error !== undefined) throw error;
      return CHECKS;
    },
    async checkClock() {
      const error = clock[asked.clock++];
      if (error !== undefined) throw error;
    },
    report: report ?? ((event) => void events.push(event)),
    pause: (ms, signal) =>
      new Promise((resolve) => {
        pauses.push(ms);
        resume = resolve;
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      }),
  });
  /** Ends the pause, and lets the next attempt finish. */
  const next = async () => {
    resume();
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  };
  return { opening, events, pauses, asked, next };
}

describe("the start of a paywall", () => {
  it("queries chain and service once if both answer", async () => {
    const { opening, events, pauses, asked } = open([], []);
    await opening.attempted;
    await opening.ready;
    expect([await opening.token(), await opening.checks()]).to.deep.equal([TOKEN, CHECKS]);
    expect([events, pauses, asked]).to.deep.equal([[], [], { chain: 1, service: 1, clock: 1 }]);
  });

  it("knows the price before the service's keys, and does not query the chain again", async () => {
    const { opening, events, asked, next } = open(
      [],
      [unreachable("SERVICE_UNAVAILABLE"), unreachable("SERVICE_UNAVAILABLE")],
    );
    await opening.attempted;
    expect([await opening.token(), await opening.checks(), opening.failure]).to.deep.equal([
      TOKEN,
      undefined,
      "SERVICE_UNAVAILABLE",
    ]);
    await next();
    expect(await opening.checks()).to.equal(undefined);
    await next();
    await opening.ready;
    expect([await opening.checks(), asked]).to.deep.equal([CHECKS, { chain: 1, service: 3, clock: 1 }]);
    expect(events.map(({ event, reason }) => [event, reason])).to.deep.equal([
      ["opening", "SERVICE_UNAVAILABLE"],
      ["opening", "SERVICE_UNAVAILABLE"],
      ["opened", undefined],
    ]);
  });

  it("responds with the price without waiting for the service", async () => {
    let answer = () => {};
    const opening = new Opening({
      readToken: async () => TOKEN,
      checkClock: async () => undefined,
      openChecks: () =>
        new Promise((resolve) => {
          answer = () => resolve(CHECKS);
        }),
      report: () => undefined,
      pause: async () => undefined,
    });
    expect(await opening.token()).to.equal(TOKEN);
    const checks = opening.checks();
    answer();
    expect(await checks).to.equal(CHECKS);
  });

  it("is not ready while its clock is wrong, but still checks payments", async () => {
    const wrong = new PaywallError("PAYWALL_CLOCK_WRONG", "the clock is 360 s ahead");
    const { opening, events, asked, next } = open([], [], undefined, [wrong, wrong]);
    await opening.attempted;
    expect([await opening.token(), await opening.checks(), opening.failure]).to.deep.equal([
      TOKEN,
      CHECKS,
      "PAYWALL_CLOCK_WRONG",
    ]);
    await next();
    await next();
    await opening.ready;
    expect(asked).to.deep.equal({ chain: 1, service: 1, clock: 3 });
    expect(events.map(({ event }) => event)).to.deep.equal(["opening", "opening", "opened"]);
  });

  it("doubles its pauses up to 30 s", async () => {
    const { opening, pauses, next } = open(
      Array.from({ length: 8 }, () => unreachable("CHAIN_UNAVAILABLE")),
      [],
    );
    await opening.attempted;
    expect(await opening.token()).to.equal(undefined);
    for (let attempt = 0; attempt < 8; attempt++) await next();
    await opening.ready;
    expect(pauses).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(await opening.token()).to.equal(TOKEN);
  });

  it("fails on permanent errors, immediately or later", async () => {
    const wrong = new PaywallError("KEY_NOT_PINNED", "another key");
    const outcome = (promise: Promise<void>) =>
      promise.then(
        () => "resolved",
        (error: { code?: string }) => error.code,
      );
    const first = open([], [wrong]);
    expect([await outcome(first.opening.attempted), await outcome(first.opening.ready)]).to.deep.equal([
      "KEY_NOT_PINNED",
      "KEY_NOT_PINNED",
    ]);
    // It must not ask for payments that it will never accept.
    expect(await first.opening.token()).to.equal(undefined);

    const later = open([], [unreachable("SERVICE_UNAVAILABLE"), wrong]);
    const ready = outcome(later.opening.ready);
    await later.opening.attempted;
    expect(await later.opening.token()).to.equal(TOKEN);
    await later.next();
    expect(await ready).to.equal("KEY_NOT_PINNED");
    expect(await later.opening.token()).to.equal(undefined);
  });

  it("stops if the paywall is closed", async () => {
    const { opening, asked } = open([unreachable("CHAIN_UNAVAILABLE")], []);
    await opening.attempted;
    opening.close();
    await opening.ready;
    expect(asked).to.deep.equal({ chain: 1, service: 0, clock: 0 });
  });

  it("emits a process warning without a hook, once per reason", async () => {
    const warnings: Error[] = [];
    const listener = (warning: Error) => void warnings.push(warning);
    process.on("warning", listener);
    try {
      const [here, there] = [unreachable("CHAIN_UNAVAILABLE"), unreachable("SERVICE_UNAVAILABLE")];
      // The same code with another message.
      const again = new PaywallError("CHAIN_UNAVAILABLE", "CHAIN_UNAVAILABLE: status 502");
      const { opening, next } = open([here, again], [there], createReporter({} as never));
      await opening.attempted;
      for (let attempt = 0; attempt < 3; attempt++) await next();
      await opening.ready;
    } finally {
      process.off("warning", listener);
    }
    expect(warnings.map(({ message }) => /keeps retrying: (\w+)/.exec(message)?.[1])).to.deep.equal([
      "CHAIN_UNAVAILABLE",
      "SERVICE_UNAVAILABLE",
    ]);
  });
});
