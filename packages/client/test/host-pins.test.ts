import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { pinHost } from "../src/fetch/recipient.ts";

const HOST = "data.example";
const [ONE, OTHER] = [`0x${"1".repeat(40)}`, `0x${"2".repeat(40)}`];

describe("host pins", () => {
  it("accept only one of two wallets pinned concurrently", async () => {
    const store = new MemoryStore();
    const outcomes = await Promise.allSettled(
      [ONE, OTHER, ONE, OTHER].map((wallet) => pinHost(store, HOST, wallet, undefined)),
    );
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(await rejection(pinHost(store, HOST, OTHER, undefined))).to.include({ code: "RECIPIENT_CHANGED" });
  });

  it("change after confirmation, and ask again if the pin changed in the meantime", async () => {
    const store = new MemoryStore();
    await pinHost(store, HOST, ONE, undefined);
    const asked: string[] = [];
    const third = `0x${"3".repeat(40)}`;
    await pinHost(store, HOST, OTHER, async ({ known }) => {
      asked.push(known);
      if (asked.length === 1) await pinHost(store, HOST, third, () => true);
      return true;
    });
    expect(asked).to.deep.equal([ONE, third]);
    await pinHost(store, HOST, OTHER, undefined);
  });
});
