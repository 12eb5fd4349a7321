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

/** Few requests, each of which is merged, and many that are merged together, with several swaps at once. */
const SCENARIOS = [
  { title: "any write", paths: ["/1", "/2"], mergesEach: true, swaps: [1, 1] },
  {
    title: "any write of several swaps at once",
    paths: ["/1", "/2", "/3", "/4", "/5", "/6"],
    mergesEach: false,
    swaps: [4, 9],
  },
] as const;
type Scenario = (typeof SCENARIOS)[number];

describe("a client that dies while it pays metered requests and merges their change", function () {
  slow(this, "payments and claims for every write");

  const settings = { buy: true, maxDelayMs: 1e9 };
  const merge = (scene: MeteredWorld) => mergePrepaid(scene.merchant.fetch, scene.payer, scene.options(settings));

  /** Pays requests and merges their change, in a process whose store dies at a write. */
  async function live(
    scene: MeteredWorld,
    store: Store,
    { paths, mergesEach }: Scenario,
    onMerge: () => void = () => undefined,
  ): Promise<void> {
    scene.payer = await scene.world.wallet({ seed: SEED, store });
    await scene.payer.scan();
    for (const path of paths) {
      await scene.wrap(settings)(ORIGIN + path);
      if (!mergesEach && path !== paths.at(-1)) continue;
      onMerge();
      const { problems } = await merge(scene);
      for (const problem of problems) throw problem;
    }
  }

  async function open() {
    const disk = new MemoryStore();
    const scene = await MeteredWorld.open({ seed: SEED, store: disk });
    // Each charge of 1 leaves change of 5+2+2: of two, 5+5 can be swapped.
    scene.merchant.units = {};
    return { disk, scene };
  }

  /** Counts the writes, and those before the first merge. */
  async function countWrites(scenario: Scenario): Promise<{ readonly writes: number; readonly paid: number }> {
    const { disk, scene } = await open();
    let writes = 0;
    let paid: number | undefined;
    await live(
      scene,
      watchedStore(disk, () => {
        writes += 1;
      }),
      scenario,
      () => {
        paid ??= writes;
      },
    );
    expect(scene.merchant.rows.size).to.equal(scenario.paths.length);
    expect(scene.merchant.swaps.size).to.be.within(scenario.swaps[0], scenario.swaps[1]);
    return { writes, paid: paid! };
  }

  for (const scenario of SCENARIOS)
    it(`loses nothing, to the unit, if it dies at ${scenario.title}`, async () => {
      const { paths } = scenario;
      const { writes, paid } = await countWrites(scenario);
      // What a payment writes, the first scenario covers.
      const first = scenario.mergesEach ? 0 : paid;
      expect(writes - first).to.be.greaterThan(scenario.mergesEach ? 20 : 6);
      for (let n = 0; n < 2 * writes; n += 1) {
        if (n % writes < first) continue;
        const after = n >= writes;
        const title = `${after ? "after" : "before"} write ${n % writes} of ${writes}`;
        const { disk, scene } = await open();
        // The background also writes, in another order each time: a process may end before its last writes, and then does not die.
        await live(scene, dyingStore(disk, n % writes, after), scenario).catch(() => undefined);

        // A new process with what is on disk: the same calls resume.
        const copy = new MemoryStore();
        for (const { key, value } of await disk.list("")) await copy.put(key, value);
        scene.payer = await scene.world.wallet({ seed: SEED, store: copy });
        await scene.payer.scan();
        for (const path of paths) await scene.wrap(settings)(ORIGIN + path);
        expect((await merge(scene)).problems, title).to.deep.equal([]);
        expect(await scene.stop(), title).to.equal(undefined);
        const { unspent, underway } = (await scene.listed())!;
        expect(await scene.paid(), title).to.equal(scene.merchant.charged() + unspent);
        expect(underway, title).to.equal(0n);
        expect((await prepaidBookOf(scene.payer.store)).metered.swaps(), title).to.deep.equal([]);
        // Each process pays each path at most once.
        expect(scene.merchant.rows.size, title).to.be.within(paths.length, 2 * paths.length);
      }
    });
});
