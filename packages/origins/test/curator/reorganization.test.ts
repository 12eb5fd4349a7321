// A payment whose transaction a reorganization moves into another block: its nullifier is on chain twice, for those who saw both.
import { verifyOrigin } from "@sotto/prover/origin";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { URL as RESOURCE } from "../../../wallet/test/support/world.ts";
import type { Curator } from "../../src/curator/curator.ts";
import { logPackPath } from "../../src/index.ts";
import { Origins } from "../../src/wallet.ts";
import { originProver, verifier } from "../support/artifacts.ts";
import { curatorFetch } from "../support/curator-fetch.ts";
import { ALICE, BOB, CuratorWorld, SET, testJudge } from "../support/curator-world.ts";
import { audit, linesOf, membersOf } from "../support/published.ts";

const CURATOR = "https://curator.example/clean";

describe("a payment that a reorganization moves into another block", function () {
  slow(this, "proofs of origins are made");
  let world: CuratorWorld;
  let curator: Curator;
  let folder: string;
  let payer: Wallet;
  let recipient: Wallet;
  let payment: Awaited<ReturnType<Wallet["pay"]>>;
  /** Height of the chain before the payment settled. */
  let height: number;
  const open: Origins[] = [];

  const follow = async (wallet: Wallet): Promise<Origins> => {
    const origins = await Origins.open(wallet, { fetch: curatorFetch(CURATOR, curator, folder) });
    await origins.follow({ curator: SET.curator, name: SET.name, url: CURATOR, minimumCrowd: 0 });
    open.push(origins);
    return origins;
  };
  const sync = async (origins: Origins) => {
    const { problems, claims } = await origins.sync();
    assert.deepEqual(problems, []);
    return claims;
  };
  const settle = async () => {
    world.settle(payment);
    await world.append();
    await world.round(curator);
  };
  const standings = (origins: Origins) =>
    origins.status()[0]!.notes.map(({ note, standing }) => `${note.leafIndex} ${standing.in}`);
  const claimLines = () => linesOf(folder, logPackPath).filter((line) => line.includes('"claim"'));

  beforeEach(async () => {
    world = new CuratorWorld();
    ({ folder } = world.curatorOptions());
    curator = await world.curator({
      judges: () => [testJudge(new Set([BOB]))],
      verifier: { verify: (circuit, proof, signals) => verifier.verify(circuit, proof, signals) },
    });
    payer = await world.wallet({ prover: await originProver(world) });
    recipient = await world.wallet();
    await world.depositFrom(ALICE, payer, [5_000n]);
    await world.append();
    await payer.scan();
    await world.round(curator);
    height = world.chain.height;
    const request = { recipient: world.recipient(recipient), amount: 1_000n, resourceUrl: RESOURCE };
    payment = await payer.pay(request);
  });
  afterEach(async () => {
    for (const each of open.splice(0)) each.close();
    await world.close();
  });

  /** Removes the payment from the chain. A deposit that the curator refuses takes the leaf of the recipient's note. */
  const moveAway = async () => {
    world.chain.takeBack(world.chain.height - height);
    await world.depositFrom(BOB, await world.wallet(), [9_000n]);
    await world.append();
    world.chain.mineMany(3);
  };

  for (const [when, isClaimed, isRead] of [
    ["after its claim", true, false],
    ["before its claim", false, false],
    ["after its claim, and the curator reads the chain without it", true, true],
  ] as const)
    it(`ends as if it had been there once: ${when}`, async () => {
      const mine = await follow(payer);
      await sync(mine);
      await settle();
      if (isClaimed) {
        assert.equal(await sync(mine), 1);
        await world.round(curator);
        assert.deepEqual(membersOf(folder), [0, 1, 2]);
      }
      await moveAway();
      if (isRead) {
        await world.round(curator);
        // The control: without the payment, its claim brings nothing into the set.
        assert.deepEqual(membersOf(folder), [0]);
        await sync(mine);
      }
      await settle();
      await sync(mine);
      world.chain.mine();
      await world.round(curator);
      await sync(mine);
      assert.deepEqual(membersOf(folder), [0, 2, 3], "not the refused deposit");
      assert.lengthOf(claimLines(), 1);
      const theirs = await follow(recipient);
      await sync(theirs);
      assert.deepEqual([standings(mine), standings(theirs)], [["3 set"], ["2 set"]]);
      assert.deepInclude(mine.status()[0]!.spends, { done: 1, due: 0, refused: 0, late: 0 });
      const report = await audit(world, folder, SET, (claim) => verifyOrigin(verifier, claim));
      assert.deepEqual([report.contradictions, report.claims, report.members], [[], 1, 3]);
    });
});
