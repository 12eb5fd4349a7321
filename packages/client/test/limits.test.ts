// Limits per hour, day, host and tool: which of them a price counts against, when they reset, and which spellings are one host.
import { SottoError } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type StoreChange } from "@sotto/wallet";
import { expect } from "chai";
import { ChargeCounters } from "../src/purchase/charges.ts";
import {
  assertLimits,
  assertSpendable,
  limitHost,
  release,
  reservationAt,
  reserve,
  type SpendingLimits,
  spendingLeft,
  spentOn,
} from "../src/purchase/limits.ts";

const NOW = Date.parse("2026-11-28T21:59:59.999Z");
const NEXT_HOUR = Date.parse("2026-11-28T22:00:00Z");
const NEXT_DAY = Date.parse("2026-11-29T00:00:00Z");
const HOST = "api.example";

describe("spending limits", () => {
  let store: MemoryStore;
  beforeEach(() => {
    store = new MemoryStore();
  });
  const spend = async (limits: SpendingLimits, price: bigint, now = NOW, host = HOST) =>
    store.batch(await reserve(store, limits, price, reservationAt(now, host, limits)));
  const refusal = async (limits: SpendingLimits, price: bigint, now = NOW, host = HOST) => {
    const checked = await rejection(assertSpendable(store, limits, price, { now, host }));
    const reserved = await rejection(spend(limits, price, now, host));
    expect(reserved).to.deep.include({ code: checked.code, message: checked.message, details: checked.details });
    return reserved;
  };
  const tool = (name: string, perDay?: bigint): SpendingLimits => ({ tool: { name, perDay } });

  it("per hour are free again when the hour ends, and say so", async () => {
    const limits = { perHour: 100n };
    await spend(limits, 60n);
    const error = await refusal(limits, 41n);
    expect(error.code).to.equal("HOUR_LIMIT_EXCEEDED");
    expect(error.message).to.equal(
      "the price is 41 base units, but 60 base units of the 100 base units allowed per hour (UTC) are spent or reserved; " +
        "40 base units are left until 2026-11-28T22:00:00Z",
    );
    expect(error.details).to.deep.equal({ price: "41", spent: "60", limit: "100", until: "2026-11-28T22:00:00Z" });
    await spend(limits, 40n);
    await refusal(limits, 1n);
    await spend(limits, 100n, NEXT_HOUR);
    expect(await spentOn(store, NOW)).to.equal(200n);
  });

  it("per day, host and tool are free again at midnight (UTC)", async () => {
    for (const [limits, code, where] of [
      [{ perDay: 10n }, "DAY_LIMIT_EXCEEDED", {}],
      [{ perHost: 10n }, "HOST_LIMIT_EXCEEDED", { host: HOST }],
      [tool("fetch_paid", 10n), "TOOL_LIMIT_EXCEEDED", { tool: "fetch_paid" }],
    ] as const) {
      store = new MemoryStore();
      await spend(limits, 10n);
      for (const now of [NOW, NEXT_HOUR, NEXT_DAY - 1]) {
        const error = await refusal(limits, 1n, now);
        expect([error.code, error.details["until"]]).to.deep.equal([code, "2026-11-29T00:00:00Z"]);
        expect(error.details).to.include(where);
      }
      await spend(limits, 10n, NEXT_DAY);
    }
  });

  it("name the limit that keeps refusing for longest, and no time if the price alone is above the limit", async () => {
    const limits = { perDay: 100n, perHour: 100n };
    await spend(limits, 90n);
    expect((await refusal(limits, 11n)).code).to.equal("DAY_LIMIT_EXCEEDED");
    const error = await refusal({ perHour: 10n }, 11n);
    expect(error.message).to.equal("the price is 11 base units, but the limit is 10 base units per hour (UTC)");
    expect(error.details).not.to.have.property("until");
  });

  it("follow UTC in every time zone of the machine", async () => {
    const before = process.env["TZ"];
    try {
      for (const zone of ["America/Los_Angeles", "Asia/Kolkata", "Pacific/Kiritimati"]) {
        process.env["TZ"] = zone;
        store = new MemoryStore();
        await spend({ perDay: 5n }, 5n);
        expect((await refusal({ perDay: 5n }, 1n, NEXT_DAY - 1)).details["until"]).to.equal("2026-11-29T00:00:00Z");
        await spend({ perDay: 5n }, 5n, NEXT_DAY);
      }
    } finally {
      if (before === undefined) delete process.env["TZ"];
      else process.env["TZ"] = before;
    }
  });

  it("count each tool on its own, also before it has a limit, and all tools together", async () => {
    await spend(tool("fetch_paid"), 30n);
    await spend(tool("pay_phone", 50n), 50n);
    await spend({}, 5n);
    expect((await refusal(tool("pay_phone", 50n), 1n)).code).to.equal("TOOL_LIMIT_EXCEEDED");
    expect((await refusal(tool("fetch_paid", 35n), 6n)).code).to.equal("TOOL_LIMIT_EXCEEDED");
    await spend(tool("fetch_paid", 35n), 5n);
    expect(await spentOn(store, NOW)).to.equal(90n);
  });

  it("of a single host replace the limit for every host, and may be higher, lower or nothing", async () => {
    const limits = { perHost: 10n, hosts: { [HOST]: 20n, "low.example": 5n, "never.example": 0n } };
    await spend(limits, 20n);
    await spend(limits, 10n, NOW, "other.example");
    await spend(limits, 10n, NOW, "constructor");
    for (const [host, price] of [
      [HOST, 1n],
      ["other.example", 1n],
      ["low.example", 6n],
      ["never.example", 1n],
    ] as const)
      expect((await refusal(limits, price, NOW, host)).code, host).to.equal("HOST_LIMIT_EXCEEDED");
  });

  it("count every spelling of a host as one", async () => {
    const spellings = [
      "api.example:8443",
      "API.EXAMPLE",
      "api.example.",
      "api.example.:443",
      "ａｐｉ.example",
      "api%2Eexample",
    ];
    await spend({ perHost: 1n }, 1n);
    for (const host of spellings) {
      expect(limitHost(host), host).to.equal(HOST);
      expect((await refusal({ perHost: 1n }, 1n, NOW, host)).code, host).to.equal("HOST_LIMIT_EXCEEDED");
      expect((await refusal({ hosts: { [HOST]: 1n } }, 1n, NOW, host)).code, host).to.equal("HOST_LIMIT_EXCEEDED");
    }
    expect(limitHost("bücher.example:80")).to.equal("xn--bcher-kva.example");
    for (const [host, name] of [
      ["127.1:80", "127.0.0.1"],
      ["0x7f.0.0.1", "127.0.0.1"],
      ["[0:0::1]:8080", "[::1]"],
      ["[::ffff:127.0.0.1]:80", "127.0.0.1"],
      ["[0:0:0:0:0:FFFF:a00:1]", "10.0.0.1"],
      ["phone", "phone"],
      ["", ""],
    ] as const)
      expect(limitHost(host), host).to.equal(name);
  });

  it("are released from the hour and the day in which the purchase began", async () => {
    const limits = { perHour: 10n, perDay: 10n, perHost: 10n, ...tool("fetch_paid", 10n) };
    await spend(limits, 10n);
    const place = reservationAt(NOW, HOST, limits);
    await spend({}, 7n, NEXT_HOUR);
    await store.batch(await release(store, 10n, place));
    expect(await spendingLeft(store, limits, { now: NOW, host: HOST })).to.deep.equal({
      hour: 10n,
      day: 3n,
      host: 3n,
      tool: 10n,
      hourEnds: NEXT_HOUR,
      dayEnds: NEXT_DAY,
    });
    expect((await spendingLeft(store, { perHour: 10n }, { now: NEXT_HOUR, host: HOST })).hour).to.equal(3n);
  });

  it("spendingLeft returns the smaller rest, of payments or of charges", async () => {
    const limits = { perHour: 20n, perDay: 30n, perHost: 40n, ...tool("fetch_paid", 50n) };
    await spend(limits, 6n);
    const charges = await ChargeCounters.open(store);
    const left = async () => {
      const { hour, day, host, tool: ofTool } = await spendingLeft(store, limits, { now: NOW, host: HOST });
      return [hour, day, host, ofTool];
    };
    expect(await left()).to.deep.equal([14n, 24n, 34n, 44n]);
    const place = reservationAt(NOW, HOST, limits);
    await store.batch(charges.reserve(limits, 9n, place));
    expect(await left()).to.deep.equal([11n, 21n, 31n, 41n]);
    await store.batch(charges.lower(4n, place));
    expect(await left()).to.deep.equal([14n, 24n, 34n, 44n]);
    await store.batch(charges.reserve({}, 100n, place));
    expect(await left()).to.deep.equal([0n, 0n, 0n, 0n]);
  });

  it("let one of two concurrent reservations pass, for each limit that they share", async () => {
    for (const limits of [{ perHour: 1n }, { perDay: 1n }, { perHost: 1n }, tool("fetch_paid", 1n)]) {
      store = new MemoryStore();
      const place = reservationAt(NOW, HOST, limits);
      const batches: StoreChange[][] = [];
      for (let i = 0; i < 2; i += 1) batches.push(await reserve(store, limits, 1n, place));
      await store.batch(batches[0]!);
      expect((await rejection(store.batch(batches[1]!))).code).to.equal("STORE_CONFLICT");
      await refusal(limits, 1n);
    }
  });

  it("give no new budget if the clock is set back", async () => {
    const limits = { perHour: 10n, perDay: 10n };
    await spend(limits, 10n, NOW);
    await spend(limits, 10n, NEXT_DAY);
    for (const now of [NOW, NEXT_DAY]) expect((await refusal(limits, 1n, now)).code).to.equal("DAY_LIMIT_EXCEEDED");
    await refusal({ perHour: 10n }, 1n, NOW);
  });

  it("are refused if an amount, a host or a tool is wrong", () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`h${i}.example`, 1n]));
    for (const wrong of [
      { perHour: -1n },
      { perHour: 0.5 },
      { perHour: 1n << 64n },
      { hosts: { [HOST]: "1" } },
      { hosts: { "API.example": 1n } },
      { hosts: { "api.example:443": 1n } },
      { hosts: { "api.example.": 1n } },
      { hosts: { "https://api.example": 1n } },
      { hosts: { "": 1n } },
      { hosts: { "::1": 1n } },
      { hosts: { "a b": 1n } },
      { hosts: { "*.example": 0n } },
      { hosts: { [`${`${"a".repeat(63)}.`.repeat(4)}example`]: 0n } },
      { hosts: many },
      { tool: { name: "" } },
      { tool: { name: "a/b" } },
      { tool: { name: "x".repeat(65) } },
      { tool: { name: "fetch_paid", perDay: -1n } },
    ])
      expect(() => assertLimits(wrong as unknown as SpendingLimits), JSON.stringify(Object.keys(wrong))).to.throw(
        SottoError,
      );
    assertLimits({ perHour: 0n, hosts: { [HOST]: 0n, "[::1]": 1n }, tool: { name: "fetch_paid", perDay: 0n } });
  });
});
