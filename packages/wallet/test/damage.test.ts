import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NoteTree } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { encodeBase64 } from "ethers";
import "fake-indexeddb/auto";
import { isCacheKey, type StoredRecord, type Wallet } from "@sotto/wallet";
import { IndexedDbStore } from "@sotto/wallet/indexeddb";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { openDB } from "idb";
import { URL, World } from "./support/world.ts";

const EVERY = process.env["SOTTO_LONG"] === "1";
const SEED = new Uint8Array(32).map((_, i) => 5 * i + 2);
const NAME = "wallet.sqlite";

const root = temporaryFolder("damage");

/** All numbers below `size` with SOTTO_LONG=1; otherwise `count` of them, half of them in the first hundred. */
function places(size: number, count: number): number[] {
  const spread = (below: number, step: number) =>
    Array.from({ length: Math.ceil(below / step) }, (_, i) => Math.floor(i * step));
  if (EVERY) return spread(size, 1);
  const start = Math.min(100, size);
  return [...new Set([...spread(start, (2 * start) / count), ...spread(size, (2 * size) / count)])];
}

function flip(path: string, place: number): void {
  const bytes = readFileSync(path);
  // Different bits at different places, so that lengths, types and text are all changed.
  bytes[place]! ^= 1 << ((place * 5) % 8) || 1;
  writeFileSync(path, bytes);
}

/** Copies the files of a store into a new folder. @returns the store's path */
function copyOf(folder: string): string {
  const copy = join(root, "copy");
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  for (const file of readdirSync(folder)) copyFileSync(join(folder, file), join(copy, file));
  return join(copy, NAME);
}

/** A world, and the files of a wallet's store in it: after it was closed, and as they were while it was open. */
async function stored() {
  const [closed, open] = ["closed", "open"].map((name) => join(root, name)) as [string, string];
  for (const folder of [closed, open]) mkdirSync(folder);
  const world = new World();
  const store = new SqliteStore(join(closed, NAME));
  const wallet = await world.funded([5_000n, 7_000n], { seed: SEED, store });
  const recipient = world.recipient(await world.wallet());
  world.settle(await wallet.pay({ recipient, amount: 1_000n, resourceUrl: URL }));
  await world.append();
  await wallet.scan();
  const tree = new NoteTree();
  tree.append((await leavesOf(store)).map((word) => BigInt(`0x${word}`)));
  await store.put("tree", encodeBase64(tree.serialize()));
  await wallet.pay({ recipient, amount: 2_000n, resourceUrl: URL });
  for (const file of readdirSync(closed)) copyFileSync(join(closed, file), join(open, file));
  const [records, leaves] = [await store.list(""), await leavesOf(store)];
  await store.close();
  return { closed, open, world, wallet, records, leaves };
}

/** The leaves of all stored pages, in order. */
async function leavesOf(store: SqliteStore): Promise<string[]> {
  const pages = await store.list("page/");
  return pages.flatMap(({ value }) => (value as { leaves: string }).leaves.match(/.{64}/g) ?? []);
}

const kept = (records: StoredRecord[]) =>
  records.filter(({ key }) => !isCacheKey(key) && key !== "scan/head").map(({ key, value }) => ({ key, value }));

describe("a damaged store", () => {
  let files: Awaited<ReturnType<typeof stored>>;
  before(async () => {
    files = await stored();
  });

  /** Opens the wallet on a damaged copy, scans, and compares it with the original. */
  async function assertHeals(path: string, what: string): Promise<void> {
    const { world, wallet, records } = files;
    const store = new SqliteStore(path);
    try {
      const healed: Wallet = await world.wallet({ seed: SEED, store });
      await healed.scan();
      expect(healed.balance(), what).to.deep.equal(wallet.balance());
      expect(healed.notes(), what).to.deep.equal(wallet.notes());
      expect(kept(await store.list("")), what).to.deep.equal(kept(records));
    } finally {
      await store.close();
    }
    // The wallet stores again what it had to read again.
    const again = new SqliteStore(path);
    expect(await leavesOf(again), what).to.deep.equal(files.leaves);
    await again.close();
  }

  for (const [state, names] of [
    ["closed", [".cache"]],
    ["open", [".cache", ".cache-wal", ".cache-shm"]],
  ] as const)
    for (const name of names)
      it(`rereads the chain if a byte of the ${state} store's ${name} is flipped or the file is cut`, async function () {
        this.timeout(EVERY ? 0 : 600_000);
        const folder = files[state];
        const { length } = readFileSync(join(folder, NAME + name));
        expect(length).to.be.greaterThan(0);
        for (const place of places(length, 40)) {
          const path = copyOf(folder);
          flip(path + name, place);
          await assertHeals(path, `byte ${place}`);
        }
        for (const size of places(length, 10)) {
          const path = copyOf(folder);
          truncateSync(path + name, size);
          await assertHeals(path, `cut to ${size}`);
        }
      });

  it("refuses a damaged file of the records without a second copy, or has all of them", async () => {
    const { length } = readFileSync(join(files.closed, NAME));
    const damage: [string, (path: string) => void][] = [
      ...places(length, 400).map((at): [string, (path: string) => void] => [`byte ${at}`, (path) => flip(path, at)]),
      ...places(length, 60).map((size): [string, (path: string) => void] => [
        `cut to ${size}`,
        (path) => truncateSync(path, size),
      ]),
    ];
    let refused = 0;
    for (const [what, apply] of damage) {
      const path = copyOf(files.closed);
      apply(path);
      try {
        const store = new SqliteStore(path);
        const records = await store.list("").finally(() => store.close());
        expect(kept(records), what).to.deep.equal(kept(files.records));
      } catch (error) {
        expect((error as { code?: string }).code, `${what}: ${String(error)}`).to.equal("STORE_DAMAGED");
        refused += 1;
      }
    }
    expect(refused).to.be.greaterThan(damage.length / 4);
  });

  it("keeps the other records readable if one is damaged", async () => {
    const path = copyOf(files.closed);
    const bytes = readFileSync(path);
    // A page of SQLite may also have older copies of the record.
    for (let at = bytes.indexOf("resourceUrl"); at >= 0; at = bytes.indexOf("resourceUrl")) bytes[at] = 0x52;
    writeFileSync(path, bytes);
    const store = new SqliteStore(path);
    expect((await store.get("identity"))?.value).to.have.property("owner");
    const error = await rejection(files.world.wallet({ seed: SEED, store }));
    expect(error.code).to.equal("STORE_DAMAGED");
    expect(error.message).to.match(/record spend\/.*backup.*no money is lost/);
    await store.close();
  });

  it("ignores the cache of another store", async () => {
    const path = copyOf(files.closed);
    const store = new SqliteStore(join(root, "other.sqlite"));
    await store.list("");
    await store.close();
    copyFileSync(`${path}.cache`, join(root, "other.sqlite.cache"));
    const other = new SqliteStore(join(root, "other.sqlite"));
    expect(await other.list("")).to.deep.equal([]);
    await other.close();
  });

  it("notices a changed record in IndexedDB", async () => {
    const store = await IndexedDbStore.open("damaged");
    await store.batch(["page/000000000000", "tree", "spend/a"].map((key) => ({ put: key, value: { amount: "1000" } })));
    await store.close();
    const database = await openDB("damaged");
    for (const record of await database.getAll("records"))
      await database.put("records", { ...record, text: record.text.replace("1000", "2000") });
    database.close();
    const damaged = await IndexedDbStore.open("damaged");
    expect(await damaged.get("tree")).to.equal(undefined);
    expect(await damaged.list("page/")).to.deep.equal([]);
    expect((await rejection(damaged.get("spend/a"))).code).to.equal("STORE_DAMAGED");
    expect((await rejection(damaged.list(""))).code).to.equal("STORE_DAMAGED");
    await damaged.close();
  });
});
