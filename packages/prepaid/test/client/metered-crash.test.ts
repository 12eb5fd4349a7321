// A client that dies between any two writes to its store, from the purchase of a token to the swap of its change.
import { slow } from "@sotto/test-kit/slow";
import { MemoryStore, type Store } from "@sotto/wallet";
import { expect } from "chai";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { dyingStore, watchedStore } from "../../../wallet/test/support/world.ts";
import { prepaidBookOf } from "../../src/client/book.ts";
import { mergePrepaid } from "../../src/client/merge.ts";
import { MeteredWorld } from "./support/metered-merchant.ts";
import { ORIGIN } from "./support/world.ts";

const PATHS = ["/1", "/2"];

describe("a client that dies while it pays metered requests and merges their change", function () {
  slow(this, "payments and claims for every write");

  const settings = { buy: true, maxDelayMs: 1e9 };
  const merge = (scene: MeteredWorld) => mergePrepaid(scene.merchant.fetch, scene.payer, scene.options(settings));

  /** Pays two requests and merges their change, in a process whose store dies at a write. */
  async function live(scene: MeteredWorld, store: Store): Promise<void> {
    scene.payer = await scene.world.wallet({ seed: SEED, store });
    await scene.payer.scan();
    for (const path of PATHS) {
      await scene.wrap(settings)(ORIGIN + path);
      const { problems } = await merge(scene);
      for (const problem of problems) throw problem;
    }
  }

  async function open() {
    const disk = new MemoryStore();
    const scene = await MeteredWorld.open({ seed: SEED, store: disk });
    // Two charges of 1 leave change of 5+2+2 each: 5+5 can be swapped.
    scene.merchant.units = {};
    return { disk, scene };
  }

  async function countWrites(): Promise<number> {
    const { disk, scene } = await open();
    let writes = 0;
    await live(
      scene,
      watchedStore(disk, () => {
        writes += 1;
      }),
    );
    expect([scene.merchant.rows.size, scene.merchant.swaps.size]).to.deep.equal([2, 1]);
    return writes;
  }

  it("loses nothing, to the unit, if it dies at any write", async () => {
    const writes = await countWrites();
    expect(writes).to.be.greaterThan(20);
    for (let n = 0; n < 2 * writes; n += 1) {
      const after = n >= writes;
      const title = `${after ? "after" : "before"} write ${n % writes} of ${writes}`;
      const { disk, scene } = await open();
      // The background also writes, in another order each time: a process may end before its last writes, and then does not die.
      await live(scene, dyingStore(disk, n % writes, after)).catch(() => undefined);

      // A new process with what is on disk: the same calls resume.
      const copy = new MemoryStore();
      for (const { key, value } of await disk.list("")) await copy.put(key, value);
      scene.payer = await scene.world.wallet({ seed: SEED, store: copy });
      await scene.payer.scan();
      for (const path of PATHS) await scene.wrap(settings)(ORIGIN + path);
      expect((await merge(scene)).problems, title).to.deep.equal([]);
      expect(await scene.stop(), title).to.equal(undefined);
      const { unspent, underway } = (await scene.listed())!;
      expect(await scene.paid(), title).to.equal(scene.merchant.charged() + unspent);
      expect(underway, title).to.equal(0n);
      expect((await prepaidBookOf(scene.payer.store)).metered.swaps(), title).to.deep.equal([]);
      // Each process pays each path at most once.
      expect(scene.merchant.rows.size, title).to.be.within(2, 4);
    }
  });
});
