// Boundaries: no secrets in the store, no Node modules in the browser, no store shared by two wallets, no damaged records
// in the wallet.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deriveKeys } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 17 * i + 1);

describe("boundaries", () => {
  it("never stores a secret", async () => {
    const world = new World();
    const store = new MemoryStore();
    const wallet = await world.funded([5_000n, 6_000n], { seed: SEED, store });
    const request = { recipient: world.recipient(await world.wallet()), amount: 1_000n, resourceUrl: URL };
    world.settle(await wallet.pay(request));
    await world.append();
    await wallet.merge();
    const text = JSON.stringify(await store.list("")).toLowerCase();
    const keys = deriveKeys(SEED, { chainId: 31337n, pool: POOL });
    const numbers = [keys.viewingKey, keys.changeKey, ...[0, 1, 2].map((index) => keys.spendingKey(index))];
    const secrets = [
      ...numbers.flatMap((key) => [key.toString(), key.toString(16)]),
      Buffer.from(SEED).toString("hex"),
      Buffer.from(keys.nonceKey).toString("hex"),
    ];
    for (const secret of secrets) expect(text.includes(secret)).to.equal(false);
    // As a control, the same search does find public values.
    expect(text).to.include(wallet.shieldedAddress);
    expect(text).to.include(wallet.notes()[0]!.nullifier!.toString());
  });

  it("imports no Node module from the main entry or the IndexedDB store", () => {
    const source = join(import.meta.dirname, "..", "src");
    const reached = (entry: string): { files: Set<string>; packages: Set<string> } => {
      const files = new Set<string>();
      const packages = new Set<string>();
      const visit = (file: string) => {
        if (files.has(file)) return;
        files.add(file);
        // Imports of types are erased.
        const text = readFileSync(file, "utf8").replace(/^import type [^;]*;$/gm, "");
        for (const [, target] of text.matchAll(/(?:from|import) "([^"]+)"/g))
          if (target!.startsWith(".")) visit(join(dirname(file), target!));
          else packages.add(target!);
      };
      visit(join(source, entry));
      return { files, packages };
    };
    const main = reached("index.ts");
    expect(main.files.size).to.be.greaterThan(25);
    for (const { packages } of [main, reached("store/indexeddb.ts")])
      expect([...packages].filter((name) => name.startsWith("node:"))).to.deep.equal([]);
    expect([...reached("store/sqlite.ts").packages]).to.include("node:fs");
  });

  it("detects two wallets on one store without damage to either", async () => {
    const world = new World();
    const store = new MemoryStore();
    const one = await world.funded([5_000n], { seed: SEED, store });
    const two = await world.wallet({ seed: SEED, store });
    await two.scan();
    world.chain.mine();
    await one.scan();
    expect((await rejection(two.scan())).code).to.equal("STORE_CONFLICT");
    const reopened = await world.wallet({ seed: SEED, store });
    await reopened.scan();
    expect(reopened.balance()).to.deep.equal(one.balance());
  });

  it("detects two wallets on one store even after one rolled back or merged the other's pages", async () => {
    const world = new World();
    const store = new MemoryStore();
    const one = await world.funded([5_000n], { seed: SEED, store });
    const two = await world.wallet({ seed: SEED, store });
    for (let blocks = 0; blocks < 8; blocks += 1) {
      world.chain.mine();
      await two.scan();
    }
    world.chain.mine();
    expect((await rejection(one.scan())).code).to.equal("STORE_CONFLICT");
    await (await world.wallet({ seed: SEED, store })).scan();
  });
});

describe("damaged pages in a store that does not notice it", () => {
  it("are deleted and read again, with all pages after them", async () => {
    const world = new World();
    const store = new MemoryStore();
    const wallet = await world.funded([5_000n], { seed: SEED, store });
    const [page] = await store.list("page/");
    const value = page!.value as { leaves: string };
    const heals = async () => {
      const healed = await world.wallet({ seed: SEED, store });
      expect(await store.list("page/")).to.deep.equal([]);
      await healed.scan();
      expect(healed.balance()).to.deep.equal(wallet.balance());
    };
    for (const damaged of [null, {}, { ...value, leaves: value.leaves.slice(1) }, { ...value, from: 7 }]) {
      await store.put(page!.key, damaged);
      await heals();
    }
    await store.delete(page!.key);
    await store.put("page/000000009999", { ...value, from: 9999 });
    await heals();
  });
});
