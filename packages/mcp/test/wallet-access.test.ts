// The wallet between calls.
import type { Wallet } from "@sotto/client";
import { expect } from "chai";
import { SharedWallet } from "../src/agent/wallet-access.ts";

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
    const shared = new SharedWallet(open, 60_000, (error) => errors.push(error));
    for (let uses = 1; uses <= 2; uses += 1) {
      expect(await shared.use(async (used) => used)).to.equal(wallet);
      await shared.close();
      expect([opened, errors.length]).to.deep.equal([uses, uses]);
    }
    expect(errors).to.deep.equal([failure, failure]);
  });
});
