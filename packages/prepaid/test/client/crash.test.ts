// A client that dies between any two writes to its store, from the purchase of a pack to the tokens it spends.
import { slow } from "@sotto/test-kit/slow";
import { MemoryStore, type Store } from "@sotto/wallet";
import { expect } from "chai";
import { SEED } from "../../../wallet/test/support/merchant.ts";
import { dyingStore, watchedStore } from "../../../wallet/test/support/world.ts";
import { PrepaidError } from "../../src/client/errors.ts";
import { ORIGIN, PrepaidWorld } from "./support/world.ts";

const PATHS = ["/1", "/2"];

describe("a client that dies while it buys and spends prepaid tokens", function () {
  slow(this, "a payment and a pack for every write");

  /** Buys a pack and spends two tokens, in a process whose store dies at a write. */
  async function live(scene: PrepaidWorld, store: Store): Promise<void> {
    scene.payer = await scene.world.wallet({ seed: SEED, store });
    await scene.payer.scan();
    await scene.buy();
    for (const path of PATHS) await scene.wrap()(ORIGIN + path);
  }

  async function open() {
    const disk = new MemoryStore();
    return { disk, scene: await PrepaidWorld.open({ seed: SEED, store: disk }) };
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
    return writes;
  }

  it("pays once and loses no token if it dies at any write", async () => {
    const writes = await countWrites();
    expect(writes).to.be.greaterThan(12);
    for (let n = 0; n < 2 * writes; n += 1) {
      const after = n >= writes;
      const title = `${after ? "after" : "before"} write ${n % writes} of ${writes}`;
      const { disk, scene } = await open();
      const death = await live(scene, dyingStore(disk, n % writes, after)).catch((error: Error) => error.message);
      expect(death, title).to.equal("the process died");
      const servedBefore = scene.merchant.served.map(({ target }) => target);

      // A new process with what is on disk: the same calls resume.
      const copy = new MemoryStore();
      for (const { key, value } of await disk.list("")) await copy.put(key, value);
      scene.payer = await scene.world.wallet({ seed: SEED, store: copy });
      await scene.payer.scan();
      if ((await scene.listed())?.packs[0]?.state !== "ready") await scene.buy();
      const refused: string[] = [];
      for (const path of PATHS)
        await scene
          .wrap()(ORIGIN + path)
          .catch((error: unknown) => {
            expect(error instanceof PrepaidError && error.code, title).to.equal("PREPAID_TOKEN_REFUSED");
            refused.push(path);
          });
      expect(await scene.paid(), title).to.equal(1_000n);
      expect(await scene.stop(), title).to.equal(undefined);
      // A token is refused only if its request was served, and the answer was lost with the process.
      for (const path of refused) expect(servedBefore, title).to.include(path);
      for (const path of PATHS)
        expect(
          scene.merchant.served.map(({ target }) => target),
          title,
        ).to.include(path);
      // No token is lost, and none was shown to two requests.
      const { used } = scene.merchant;
      const { unspent } = (await scene.listed())!;
      expect(Number(unspent / 10n) + used.size, title).to.equal(100);
    }
  });
});
