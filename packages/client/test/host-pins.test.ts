import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Store } from "@sotto/wallet";
import { expect } from "chai";
import { type ConfirmRecipient, pinHost } from "../src/fetch/recipient.ts";
import { hashText } from "../src/purchase/hash.ts";

const HOST = "data.example";
const [ONE, OTHER] = [`0x${"1".repeat(40)}`, `0x${"2".repeat(40)}`];
const pin = (store: Store, wallet: string, ownerTag = "7", confirm?: ConfirmRecipient) =>
  pinHost(store, HOST, { wallet, ownerTag }, confirm);

describe("host pins", () => {
  it("accept only one of two wallets pinned concurrently", async () => {
    const store = new MemoryStore();
    const outcomes = await Promise.allSettled([ONE, OTHER, ONE, OTHER].map((wallet) => pin(store, wallet)));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(await rejection(pin(store, OTHER))).to.include({ code: "RECIPIENT_CHANGED" });
  });

  it("change after confirmation, and ask again if the pin changed in the meantime", async () => {
    const store = new MemoryStore();
    await pin(store, ONE);
    const asked: string[] = [];
    const third = `0x${"3".repeat(40)}`;
    await pin(store, OTHER, "7", async ({ known }) => {
      asked.push(known);
      if (asked.length === 1) await pin(store, third, "7", () => true);
      return true;
    });
    expect(asked).to.deep.equal([ONE, third]);
    await pin(store, OTHER);
  });

  it("refuse the same wallet with another owner tag, as a thief of its account's key would sign it", async () => {
    const store = new MemoryStore();
    await pin(store, ONE);
    const error = await rejection(pin(store, ONE, "8"));
    expect(error).to.include({ code: "RECIPIENT_CHANGED" });
    expect(error.message).to.include("another spending key");
    const asked: unknown[] = [];
    await pin(store, ONE, "8", (change) => {
      asked.push(change);
      return true;
    });
    expect(asked).to.deep.equal([{ host: HOST, known: ONE, offered: ONE }]);
    await pin(store, ONE, "8");
    expect(await rejection(pin(store, ONE, "7"))).to.include({ code: "RECIPIENT_CHANGED" });
  });

  it("of an earlier version, with the wallet alone, take the tag of the next payment", async () => {
    const store = new MemoryStore();
    await store.put(`pin/host/${hashText(HOST)}`, { host: HOST, wallet: ONE }, 0);
    expect(await rejection(pin(store, OTHER))).to.include({ code: "RECIPIENT_CHANGED" });
    await pin(store, ONE, "9");
    expect(await rejection(pin(store, ONE, "7"))).to.include({ code: "RECIPIENT_CHANGED" });
    await pin(store, ONE, "9");
  });

  it("that are unreadable accept no wallet", async () => {
    const store = new MemoryStore();
    await store.put(`pin/host/${hashText(HOST)}`, { host: HOST, wallet: ONE, ownerTag: 7 }, 0);
    expect(await rejection(pin(store, ONE))).to.include({ code: "STORE_DAMAGED" });
  });
});
