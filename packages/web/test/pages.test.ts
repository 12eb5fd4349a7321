import { deriveKeys, formatViewingKeys, type Month } from "@sotto/protocol";
import { expectCode } from "@sotto/test-kit/rejection";
import type { Received } from "@sotto/wallet";
import { expect } from "chai";
import { filtered } from "../src/engine/merchant-api.ts";
import { receivedCsv } from "../src/engine/merchant-csv.ts";
import { isSameReceived } from "../src/engine/received.ts";
import { openViewingKeys } from "../src/engine/viewing-key.ts";
import { formatAge } from "../src/lib/age.ts";
import { latenciesOf, parseMetrics, sumOf } from "../src/lib/metrics.ts";
import { parseStatus } from "../src/lib/service-status.ts";
import { sumByMonth, sumByPeriod } from "../src/lib/sums.ts";

const DAY = 86_400;
const NOW = 20_000 * DAY + 5_000;

const received = (timestamp: number, amount: bigint, origin: Received["origin"] = "payment"): Received => ({
  amount,
  origin,
  leafIndex: 4,
  blockNumber: 9,
  timestamp,
  transactionHash: `0x${"ab".repeat(32)}`,
  confirmed: true,
  month: undefined,
});

describe("sums of a merchant", () => {
  it("adds payments by UTC day and hour, and leaves out deposits and other periods", () => {
    const list = [
      received(NOW - 3 * DAY, 1n),
      received(NOW - DAY, 2n),
      received(NOW - 4_000, 4n),
      received(NOW, 8n),
      received(NOW, 16n, "deposit"),
      received(NOW + DAY, 32n),
    ];
    const amounts = (period: "hour" | "day", count: number) =>
      sumByPeriod(list, period, count, NOW).map(({ amount, payments }) => [amount, payments]);
    expect(amounts("day", 2)).to.deep.equal([
      [2n, 1],
      [12n, 2],
    ]);
    expect(amounts("hour", 2)).to.deep.equal([
      [4n, 1],
      [8n, 1],
    ]);
  });

  it("adds payments by the month of the paid address, whenever they were made", () => {
    const [march, april] = ["2027-03", "2027-04"] as Month[];
    const list = [
      { ...received(NOW, 1n), month: march },
      { ...received(NOW - 90 * DAY, 2n), month: march },
      received(NOW, 4n),
      received(NOW, 8n, "deposit"),
    ];
    expect(sumByMonth(list, [undefined, march, april])).to.deep.equal([
      { month: undefined, payments: 1, amount: 4n },
      { month: march, payments: 2, amount: 3n },
      { month: april, payments: 0, amount: 0n },
    ]);
    expect(filtered(list, "all")).to.have.lengthOf(4);
    expect(filtered(list, "lasting").map(({ amount }) => amount)).to.deep.equal([4n]);
    expect(filtered(list, march!).map(({ amount }) => amount)).to.deep.equal([1n, 2n]);
  });

  it("detects that a payment was confirmed or replaced, even if the sum stays the same", () => {
    const list = [received(NOW, 0n), received(NOW + 1, 2n)];
    expect(isSameReceived(list, structuredClone(list))).to.equal(true);
    const changes: Partial<Received>[] = [
      { confirmed: false },
      { transactionHash: `0x${"cd".repeat(32)}` },
      { blockNumber: 10 },
      { timestamp: NOW + 2 },
      { leafIndex: 5 },
      { amount: 3n },
      { origin: "deposit" },
    ];
    for (const change of changes)
      for (const changed of [0, 1]) {
        const other = list.map((payment, index) => (index === changed ? { ...payment, ...change } : payment));
        expect(isSameReceived(list, other), Object.keys(change)[0]).to.equal(false);
      }
    expect(isSameReceived(list, list.slice(1))).to.equal(false);
    expect(isSameReceived([], list)).to.equal(false);
  });

  it("exports payments in the format of the wallet's CSV", () => {
    const lines = receivedCsv([received(NOW, 1_500_000n), received(NOW, 7n, "deposit")]).split("\r\n");
    expect(lines).to.have.lengthOf(3);
    expect(lines[1]).to.include(",in,settled,1500000,1.5,");
    const [title, first] = receivedCsv([{ ...received(NOW, 1n), month: "2027-03" as Month }])
      .split("\r\n")
      .map((line) => line.split(","));
    expect(first![title!.indexOf("month")]).to.equal("2027-03");
  });
});

describe("a viewing key", () => {
  const pool = `0x${"90".repeat(20)}` as const;
  const place = { chainId: 31337, pool };
  const keys = deriveKeys(new Uint8Array(32).fill(7), { chainId: 31_337n, pool });
  const key = { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
  const set = { ownerTag: keys.ownerTag(0), keys: [key] };
  const exported = formatViewingKeys(set, place);

  it("is accepted in the form that the command line exports", () => {
    expect(openViewingKeys(exported, place)).to.deep.equal(set);
  });

  it("is refused if it is another address's", () => {
    const other = deriveKeys(new Uint8Array(32).fill(8), { chainId: 31_337n, pool });
    const text = exported.replace(keys.viewingKey.toString(16), other.viewingKey.toString(16));
    expect(text).not.to.equal(exported);
    expectCode("VIEWING_KEY_INVALID", () => openViewingKeys(text, place));
  });

  for (const [what, change] of Object.entries({
    "another type": { type: "sotto-receipt" },
    "another version": { version: 3 },
    "a short key": { keys: [{ ...JSON.parse(exported).keys[0], viewingKey: "0xff" }] },
    "no address": { keys: [{ ...JSON.parse(exported).keys[0], shieldedAddress: undefined }] },
    "a malformed address": { keys: [{ ...JSON.parse(exported).keys[0], shieldedAddress: "0x01" }] },
    "another chain": { chainId: "1" },
    "another pool": { pool: `0x${"91".repeat(20)}` },
  }))
    it(`is refused with ${what}, and the error does not repeat it`, () => {
      const text = JSON.stringify({ ...JSON.parse(exported), ...change });
      expect(() => openViewingKeys(text, place))
        .to.throw()
        .that.satisfies((error: Error & { code: string }) => {
          expect(error.code).to.equal("VIEWING_KEY_INVALID");
          return !error.message.includes(keys.viewingKey.toString(16).slice(8, 24));
        });
    });

  for (const text of ["", "null", "[]", "{", `"${"x".repeat(100_000)}"`])
    it(`is refused as ${JSON.stringify(text.slice(0, 8))}`, () => {
      expect(() => openViewingKeys(text, place))
        .to.throw()
        .with.property("code", "VIEWING_KEY_INVALID");
    });
});

describe("a service's report", () => {
  it("has its checks with reasons", () => {
    const text = JSON.stringify({
      ready: false,
      checks: { chain: { ok: true }, fees: { ok: false, code: "FEES_TOO_HIGH" } },
    });
    expect(parseStatus(text)).to.deep.equal({
      ready: false,
      checks: [
        { name: "chain", ok: true, code: undefined },
        { name: "fees", ok: false, code: "FEES_TOO_HIGH" },
      ],
    });
  });

  for (const text of ["", "null", "{}", '{"ready":1,"checks":{}}', '{"ready":true,"checks":{"a":null}}', "<html>"])
    it(`is refused as ${text || "nothing"}`, () => {
      expect(() => parseStatus(text))
        .to.throw()
        .with.property("code", "SERVICE_STATUS_INVALID");
    });
});

describe("metrics", () => {
  const text = [
    "# HELP sotto_relayer_queued queued",
    "sotto_relayer_queued 3",
    'sotto_verify_total{result="valid"} 5',
    'sotto_verify_total{result="say \\"no\\", {or} not"} 2',
    'sotto_http_request_seconds_bucket{le="0.1",method="POST",route="/verify",status="200"} 6',
    'sotto_http_request_seconds_bucket{le="0.5",method="POST",route="/verify",status="200"} 10',
    'sotto_http_request_seconds_bucket{le="+Inf",method="POST",route="/verify",status="200"} 10',
    'sotto_http_request_seconds_bucket{le="0.1",method="POST",route="/verify",status="503"} 0',
    'sotto_http_request_seconds_bucket{le="0.5",method="POST",route="/verify",status="503"} 0',
    'sotto_http_request_seconds_bucket{le="+Inf",method="POST",route="/verify",status="503"} 2',
    "not a sample",
    "sotto_bad NaN",
  ].join("\n");
  const samples = parseMetrics(text);

  it("are read with their labels", () => {
    expect(sumOf(samples, "sotto_relayer_queued")).to.equal(3);
    expect(sumOf(samples, "sotto_verify_total")).to.equal(7);
    expect(sumOf(samples, "sotto_bad")).to.equal(undefined);
    expect(samples[2]?.labels["result"]).to.equal('say "no", {or} not');
  });

  it("give upper estimates of a route's latencies, over all statuses", () => {
    expect(latenciesOf(samples, "sotto_http_request_seconds")).to.deep.equal([
      { route: "POST /verify", requests: 12, median: 0.1, p95: Number.POSITIVE_INFINITY },
    ]);
  });
});

describe("ages", () => {
  for (const [seconds, text] of [
    [-5, "0 s"],
    [59.9, "59 s"],
    [60, "1 min"],
    [7_199, "1 h"],
    [200_000, "2 d"],
  ] as const)
    it(`shows ${seconds} seconds as ${text}`, () => {
      expect(formatAge(seconds)).to.equal(text);
    });
});
