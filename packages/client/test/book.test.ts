// The purchase book while another process writes to its store, which is not allowed.

import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { PurchaseBook } from "../src/purchase/book.ts";
import type { PurchaseRecord } from "../src/purchase/record.ts";

const record: PurchaseRecord = {
  recipient: { wallet: `0x${"12".repeat(20)}`, shieldedAddress: `0x${"34".repeat(64)}` },
  price: "10000",
  resourceUrl: "https://data.example/report",
  service: "https://pay.example/zk",
  id: "56".repeat(16),
  request: "78".repeat(16),
  created: 1,
  reserved: { hour: "2026-11-21T10", host: "data.example", tool: null },
  payments: ["56".repeat(16)],
  sent: [],
  settled: { digest: `0x${"9a".repeat(32)}`, txSignature: `0x${"bc".repeat(32)}` },
  shown: 0,
  problem: null,
};

describe("PurchaseBook", () => {
  it("does not start a purchase that another process has started or finished in the meantime", async () => {
    const store = new MemoryStore();
    const [first, second] = [await PurchaseBook.open(store), await PurchaseBook.open(store)];
    expect(await second.finished(record.id)).to.equal(undefined);
    await first.begin(record, {});
    expect((await rejection(second.begin(record, {}))).code).to.equal("STORE_CONFLICT");
    await first.finish(record);
    expect((await rejection(second.begin(record, {}))).code).to.equal("STORE_CONFLICT");
    expect((await store.list("purchase/")).length).to.equal(0);
    expect((await second.finished(record.id))?.settled).to.deep.equal(record.settled);
  });

  it("releases the price of a purchase that a version without limits per hour began", async () => {
    const store = new MemoryStore();
    const earlier = { ...record, reserved: { day: "1970-01-01", host: "data.example" }, settled: null };
    const key = `purchase/${record.id}`;
    await store.batch([
      { put: key, value: JSON.parse(JSON.stringify(earlier)) },
      { put: "spending/1970-01-01/total", value: "25000" },
    ]);
    const book = await PurchaseBook.open(store);
    await book.abandon(book.get(record.id)!);
    expect([await store.get(key), (await store.get("spending/1970-01-01/total"))?.value]).to.deep.equal([
      undefined,
      "15000",
    ]);
  });
});
