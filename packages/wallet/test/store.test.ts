import { statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import "fake-indexeddb/auto";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, type Store, type StoreValue } from "@sotto/wallet";
import { IndexedDbStore } from "@sotto/wallet/indexeddb";
import { SqliteStore } from "@sotto/wallet/sqlite";

const folder = temporaryFolder("store");
let count = 0;

/** Each function opens the store with this name; opening it again simulates a restarted process. */
const implementations: Record<string, { open(name: string): Promise<Store>; durable: boolean }> = {
  MemoryStore: { open: async () => new MemoryStore(), durable: false },
  SqliteStore: { open: async (name) => new SqliteStore(join(folder, `${name}.db`)), durable: true },
  IndexedDbStore: { open: (name) => IndexedDbStore.open(name), durable: true },
};

for (const [title, { open, durable }] of Object.entries(implementations)) {
  describe(`store conformance: ${title}`, () => {
    let name: string;
    let store: Store;
    beforeEach(async () => {
      count += 1;
      name = `store-${count}`;
      store = await open(name);
    });
    afterEach(() => store.close());

    const keys = async (prefix = "") => (await store.list(prefix)).map(({ key }) => key);

    it("returns the stored value", async () => {
      const value = { text: "ä", list: [1, null, true, { deep: "0" }], empty: {} };
      await store.put("a", value);
      expect((await store.get("a"))?.value).to.deep.equal(value);
      expect(await store.get("b")).to.equal(undefined);
    });

    it("is not affected by later mutation of the value", async () => {
      const value = { n: 1 };
      await store.put("a", value);
      value.n = 2;
      expect((await store.get("a"))?.value).to.deep.equal({ n: 1 });
    });

    it("lists a prefix in key order", async () => {
      for (const key of ["p/10", "p/2", "q/1", "p/1", "p", "P/1"]) await store.put(key, key);
      expect(await keys("p/")).to.deep.equal(["p/1", "p/10", "p/2"]);
      expect(await keys()).to.deep.equal(["P/1", "p", "p/1", "p/10", "p/2", "q/1"]);
      expect((await store.list("p/"))[1]?.value).to.equal("p/10");
    });

    it("deletes keys, including missing ones", async () => {
      await store.put("a", 1);
      await store.delete("a");
      await store.delete("a");
      expect(await keys()).to.deep.equal([]);
    });

    it("increases the version with every put and never reuses one", async () => {
      const versions: number[] = [];
      for (let i = 0; i < 3; i += 1) {
        await store.put("a", i);
        versions.push((await store.get("a"))!.version);
      }
      await store.delete("a");
      await store.put("a", 3);
      versions.push((await store.get("a"))!.version);
      expect(versions).to.deep.equal([...versions].sort((a, b) => a - b));
      expect(new Set(versions).size).to.equal(4);
      expect(versions[0]).to.be.greaterThan(0);
    });

    it("rejects the whole batch if one record has a different version", async () => {
      await store.put("a", 1);
      const { version } = (await store.get("a"))!;
      await store.put("a", 2);
      const conflict = await rejection(
        store.batch([
          { put: "b", value: 1 },
          { put: "a", value: 3, expected: version },
        ]),
      );
      expect(conflict.code).to.equal("STORE_CONFLICT");
      expect((await rejection(store.put("a", 3, 0))).code).to.equal("STORE_CONFLICT");
      expect((await rejection(store.delete("a", version))).code).to.equal("STORE_CONFLICT");
      expect((await rejection(store.delete("c", version))).code).to.equal("STORE_CONFLICT");
      expect(await keys()).to.deep.equal(["a"]);
      expect((await store.get("a"))?.value).to.equal(2);
      await store.put("c", 1, 0);
      await store.put("a", 3, (await store.get("a"))!.version);
      expect(await keys()).to.deep.equal(["a", "c"]);
    });

    it("accepts only one of two writers with the same version", async () => {
      const tries = await Promise.allSettled([store.put("a", 1, 0), store.put("a", 2, 0)]);
      expect(tries.filter(({ status }) => status === "fulfilled")).to.have.length(1);
    });

    it("writes no part of a batch with an invalid change", async () => {
      const circular: StoreValue[] = [];
      circular.push(circular);
      const bad = [circular, 1n as unknown as StoreValue];
      for (const value of bad) {
        const error = await store
          .batch([
            { put: "a", value: 1 },
            { put: "b", value },
          ])
          .catch((e: unknown) => e);
        expect(error).to.be.instanceOf(TypeError);
      }
      for (const key of ["", "a b", "ä", "a".repeat(201)])
        expect((await rejection(store.put(key, 1))).code).to.equal("INVALID_STORE_KEY");
      const twice = store.batch([{ put: "a", value: 1 }, { delete: "a" }]);
      expect((await rejection(twice)).code).to.equal("INVALID_STORE_KEY");
      expect(await keys()).to.deep.equal([]);
    });

    it("accepts empty batches, and batches that put and delete", async () => {
      await store.batch([]);
      await store.batch([1, 2, 3].map((value) => ({ put: `k/${value}`, value })));
      await store.batch([{ delete: "k/1" }, { put: "k/2", value: "two" }, { put: "k/4", value: 4 }]);
      expect((await store.list("k/")).map(({ value }) => value)).to.deep.equal(["two", 3, 4]);
    });

    it("rejects every call after close", async () => {
      await store.put("a", 1);
      await store.close();
      expect((await rejection(store.get("a"))).code).to.equal("STORE_CLOSED");
      expect((await rejection(store.list(""))).code).to.equal("STORE_CLOSED");
      expect((await rejection(store.put("a", 2))).code).to.equal("STORE_CLOSED");
      await store.close();
    });

    if (durable)
      it("keeps all records when it is reopened", async () => {
        await store.batch([
          { put: "a", value: 1 },
          { put: "b", value: 2 },
        ]);
        await store.delete("b");
        const before = await store.get("a");
        await store.close();
        store = await open(name);
        expect(await keys()).to.deep.equal(["a"]);
        expect(await store.get("a")).to.deep.equal(before);
        await store.put("b", 3);
        expect((await store.get("b"))!.version).to.be.greaterThan(before!.version);
      });
  });
}

describe("SqliteStore", () => {
  it("creates a file that only its owner can read", async () => {
    const path = join(folder, "private.db");
    const store = new SqliteStore(path);
    await store.put("a", 1);
    expect(statSync(path).mode & 0o077).to.equal(0);
    await store.close();
  });

  it("loses no write between two processes", async () => {
    const path = join(folder, "shared.db");
    const [one, two] = [new SqliteStore(path), new SqliteStore(path)];
    await one.put("a", 1, 0);
    expect((await rejection(two.put("a", 2, 0))).code).to.equal("STORE_CONFLICT");
    expect((await two.get("a"))?.value).to.equal(1);
    await one.close();
    await two.close();
  });
});
