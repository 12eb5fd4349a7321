import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { NoteTree } from "@sotto/protocol";
import { createScanKernel, createTreeKernel } from "@sotto/prover/scan";
import { thrown } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { Ledger } from "../src/scan/ledger.ts";
import { emptyPage } from "../src/scan/page.ts";
import { TreeView } from "../src/scan/tree.ts";

const leavesOf = (count: number, first = 1) => Array.from({ length: count }, (_, i) => BigInt(first + i));
const rootOf = (leaves: bigint[]) => new NoteTree(leaves).root;

/** A ledger of pages with these leaves, the first `size` of them appended at the end. */
function ledgerOf(...pages: bigint[][]) {
  const ledger = new Ledger();
  for (const [i, leaves] of pages.entries()) {
    const runs: [number, number][] = [[i, leaves.length]];
    ledger.add({ ...emptyPage(i, i, `0x${i}`, i), leaves, runs });
  }
  return ledger;
}
const append = (ledger: Ledger, size: number) => ({
  blockNumber: 0,
  size,
  root: rootOf(ledger.leaves.slice(0, size)),
});

describe("the wallet's tree", () => {
  it("equals the tree of the ledger after any append", async () => {
    const view = await TreeView.open(new MemoryStore());
    const ledger = ledgerOf(leavesOf(20), leavesOf(20, 100));
    for (const size of [10, 40, 25, 0]) {
      const tree = view.at(ledger, size === 0 ? undefined : append(ledger, size));
      expect([tree.size, tree.root]).to.deep.equal([size, rootOf(ledger.leaves.slice(0, size))]);
    }
  });

  it("follows a ledger that was rolled back and rescanned", async () => {
    const view = await TreeView.open(new MemoryStore());
    const ledger = ledgerOf(leavesOf(20), leavesOf(20, 100));
    view.at(ledger, append(ledger, 40));
    ledger.removeLast();
    ledger.add({ ...emptyPage(1, 1, "0x", 1), leaves: leavesOf(20, 500), runs: [[1, 20]] });
    expect(view.at(ledger, append(ledger, 40)).root).to.equal(rootOf([...leavesOf(20), ...leavesOf(20, 500)]));
  });

  it("hashes appended leaves in advance, in parts, and again after a rollback", async () => {
    const view = await TreeView.open(new MemoryStore());
    const ledger = ledgerOf(leavesOf(1_100), leavesOf(20, 5_000));
    expect(view.advance(ledger)).to.equal(false);
    ledger.appends.push(append(ledger, 1_110));
    expect(view.advance(ledger)).to.equal(true);
    expect(view.advance(ledger)).to.equal(false);
    expect(view.at(ledger, append(ledger, 1_120)).root).to.equal(rootOf(ledger.leaves));
    ledger.removeLast();
    ledger.add({ ...emptyPage(1, 1, "0x", 1), leaves: leavesOf(20, 9_000), runs: [[1, 20]] });
    expect(view.advance(ledger)).to.equal(false);
    expect(view.at(ledger, append(ledger, 1_120)).root).to.equal(rootOf(ledger.leaves));
  });

  it("rejects leaves that do not match the root, and keeps none of them", async () => {
    const view = await TreeView.open(new MemoryStore());
    const ledger = ledgerOf(leavesOf(20));
    expect(thrown(() => view.at(ledger, { ...append(ledger, 20), root: 5n })).code).to.equal("ROOT_MISMATCH");
    expect(view.at(ledger, append(ledger, 20)).root).to.equal(rootOf(leavesOf(20)));
  });

  it("is loaded from the store as far as it matches the ledger", async () => {
    const store = new MemoryStore();
    const view = await TreeView.open(store);
    const ledger = ledgerOf(leavesOf(30));
    view.at(ledger, append(ledger, 30));
    await view.keep(store);
    expect(await store.get("tree")).to.equal(undefined);
    await view.keep(store, 30);
    const { version } = (await store.get("tree"))!;
    await view.keep(store, 30);
    expect((await store.get("tree"))!.version).to.equal(version);

    for (const other of [
      ledgerOf(leavesOf(30)),
      ledgerOf(leavesOf(30), leavesOf(9, 70)),
      ledgerOf(leavesOf(11), leavesOf(50, 200)),
      ledgerOf(leavesOf(8)),
    ]) {
      const size = other.leaves.length;
      const reopened = await TreeView.open(store);
      expect(reopened.at(other, append(other, size)).root).to.equal(rootOf(other.leaves));
      expect(reopened.at(other, append(other, 5)).root).to.equal(rootOf(other.leaves.slice(0, 5)));
    }
  });

  it("is rebuilt if the stored one is damaged", async () => {
    const ledger = ledgerOf(leavesOf(30));
    const good = Buffer.from(new NoteTree(leavesOf(30)).serialize());
    good[100]! ^= 1;
    for (const damaged of ["", "!", 7, null, good.toString("base64")]) {
      const store = new MemoryStore();
      await store.put("tree", damaged);
      const view = await TreeView.open(store);
      expect(view.at(ledger, append(ledger, 30)).root).to.equal(rootOf(leavesOf(30)));
    }
  });

  it("hashes many leaves with the kernel, to the same root", async () => {
    const leaves = leavesOf(10_000);
    const ledger = ledgerOf(leaves);
    // Wallets of other tests may still compile theirs.
    await Promise.all([createScanKernel(), createTreeKernel()]);
    const { instantiate } = WebAssembly;
    const { now } = performance;
    const memories: WebAssembly.Memory[] = [];
    WebAssembly.instantiate = (async (module: WebAssembly.Module, imports: { env: { memory: WebAssembly.Memory } }) => {
      const instance = await instantiate(module, imports as never);
      memories.push(imports.env.memory);
      return instance;
    }) as never;
    try {
      const view = await TreeView.open(new MemoryStore());
      view.at(ledger, append(ledger, 8_191));
      await sleep(50);
      expect(memories).to.have.length(0);
      view.at(ledger, append(ledger, 8_192));
      do await sleep(10);
      while (memories.length === 0);
      // The kernel checks itself once a second, and would find out what follows.
      const stopped = performance.now();
      performance.now = () => stopped;
      expect(view.at(ledger, append(ledger, 9_000)).root).to.equal(rootOf(leaves.slice(0, 9_000)));
      // Without its constants, the kernel is wrong.
      new Uint8Array(memories[0]!.buffer).fill(0);
      expect(thrown(() => view.at(ledger, append(ledger, 9_500))).code).to.equal("ROOT_MISMATCH");
    } finally {
      WebAssembly.instantiate = instantiate;
      performance.now = now;
    }
  });

  it("does not hash in advance while the kernel compiles", async () => {
    const ledger = ledgerOf(leavesOf(10_000));
    ledger.appends.push(append(ledger, 10_000));
    const view = await TreeView.open(new MemoryStore());
    for (let hashed = 1_024; hashed <= 8_192; hashed += 1_024) expect(view.advance(ledger)).to.equal(true);
    expect(view.advance(ledger)).to.equal(false);
    do await sleep(10);
    while (!view.advance(ledger));
    expect(view.advance(ledger)).to.equal(false);
    expect(view.at(ledger, append(ledger, 10_000)).root).to.equal(rootOf(ledger.leaves));
  });

  it("hashes many leaves without relaxed SIMD, to the same root", () => {
    const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const script = `
      WebAssembly.validate = () => false;
      const { TreeView } = await import(${at("../src/scan/tree.ts")});
      const { MemoryStore } = await import(${at("../src/store/memory.ts")});
      const leaves = Array.from({ length: 9_000 }, (_, i) => BigInt(i + 1));
      const ledger = { leaves, appended: 9_000, takeUntouched: () => 9_000 };
      const view = await TreeView.open(new MemoryStore());
      for (let turn = 0; turn < 20; turn += 1) {
        view.advance(ledger);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      console.log(view.at(ledger, { size: 9_000, root: ${rootOf(leavesOf(9_000))}n }).size);
    `;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(stdout, stderr).to.equal("9000\n");
  });
});
