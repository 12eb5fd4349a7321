// Origins that are proved before anybody asks: they save time, and change nothing of what is shown.
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Store, Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { OriginsAhead } from "../../src/wallet/ahead.ts";
import { CLAIMS } from "../../src/wallet/records.ts";
import type { Origins } from "../../src/wallet.ts";
import { CURATOR, disk, Payers } from "../support/payer.ts";

describe("an origin that is proved ahead", function () {
  slow(this, "proofs of origins are made");
  let payers: Payers;
  let store: Store;
  let wallet: Wallet;
  let origins: Origins;

  const proofs = () => payers.prover.asked.filter((circuit) => circuit === "origin").length;
  const stored = async () => (await store.list(CLAIMS)).length;
  const sync = async () => assert.deepEqual((await origins.sync()).problems, []);
  const ahead = (leaf = 0) => origins.proveAhead(leaf, payers.set);
  const prove = (leaf = 0) => origins.prove(leaf, payers.set);
  /** A head with another root. */
  const nextHead = async () => {
    await payers.funded([7_000n]);
    payers.minute();
    return (await payers.curator.acceptNew()).head;
  };

  async function open(amounts = [5_000n]) {
    payers = new Payers();
    store = disk();
    wallet = await payers.funded(amounts, { store });
    origins = await payers.follow(wallet);
    await payers.curator.acceptNew();
    await sync();
  }
  beforeEach(() => open());
  afterEach(() => origins.close());

  it("is stored when it is shown, without another proof, and counts as any other", async () => {
    await ahead();
    assert.deepEqual([proofs(), await stored()], [1, 0]);
    const claim = await prove();
    assert.deepEqual([proofs(), await stored()], [1, 1]);
    assert.equal(claim.maskRoot, payers.curator.heads[0]!.head.maskRoot);
    assert.deepEqual(await prove(), claim);
    await ahead();
    assert.equal(proofs(), 1, "what was shown is not proved again");
    await payers.pay(wallet, await payers.wallet(), 1_000n);
    assert.equal(await payers.curator.claim(claim), "stored");
  });

  it("is proved at most once a head, even if that fails", async () => {
    payers.prover.before = (circuit) => {
      if (circuit === "origin") throw new Error("out of memory");
    };
    assert.equal(await ahead().catch(String), "Error: out of memory");
    await ahead();
    assert.equal(proofs(), 1);
    payers.prover.before = () => undefined;
    await prove();
    assert.equal(proofs(), 2);
  });

  it("is outdated by a head with another root, and proved again", async () => {
    await ahead();
    await ahead();
    await payers.curator.sign();
    payers.minute();
    await sync();
    await ahead();
    assert.equal(proofs(), 1, "a newer head with the same root");
    const { maskRoot } = await nextHead();
    await sync();
    await ahead();
    await ahead();
    assert.equal(proofs(), 2);
    assert.equal((await prove()).maskRoot, maskRoot);
    assert.equal(proofs(), 2);
  });

  it("is not shown with the root of an older head", async () => {
    await ahead();
    const { maskRoot } = await nextHead();
    await sync();
    assert.equal((await prove()).maskRoot, maskRoot);
    assert.deepEqual([proofs(), await stored()], [2, 1]);
  });

  it("is proved again, if it is asked for before it is ready", async () => {
    let release = () => {};
    payers.prover.before = async (circuit) => {
      payers.prover.before = () => undefined;
      if (circuit === "origin")
        await new Promise<void>((resolve) => {
          release = resolve;
        });
    };
    const early = ahead().catch(() => undefined);
    const claim = await prove();
    release();
    await early;
    assert.deepEqual(await prove(), claim);
    assert.deepEqual([proofs(), await stored()], [2, 1]);
  });

  for (const [code, happen] of [
    ["ORIGIN_CROWD_SMALL", () => origins.follow({ ...payers.set, url: CURATOR, minimumCrowd: 2 })],
    ["ORIGIN_HEAD_OLD", async () => payers.minute(30)],
    [
      "CURATOR_EQUIVOCATED",
      async () => {
        const twin = payers.createCurator({ secret: payers.curator.secret });
        await twin.sign();
        payers.servers.set(CURATOR, twin.fetch(CURATOR));
        await origins.sync();
      },
    ],
  ] as const)
    it(`is not shown if it may not be shown any more: ${code}`, async () => {
      await ahead();
      await happen();
      assert.equal((await rejection(prove())).code, code);
      await ahead();
      assert.deepEqual([proofs(), await stored()], [1, 0]);
    });

  it("is not proved for a note outside of the set, or one that may not be shown", async () => {
    await payers.world.deposit(wallet, [6_000n]);
    await payers.world.append();
    await wallet.scan();
    await ahead(1);
    await ahead(99);
    await origins.follow({ ...payers.set, url: CURATOR, minimumCrowd: 2 });
    await ahead();
    assert.equal(proofs(), 0);
    await origins.follow({ ...payers.set, url: CURATOR, minimumCrowd: 0 });
    await ahead();
    assert.equal(proofs(), 1, "the control");
  });

  it("is forgotten when the set is followed no longer, and when origins are closed", async () => {
    await ahead();
    await origins.unfollow(payers.set);
    await ahead();
    assert.equal(proofs(), 1);
    await origins.follow({ ...payers.set, url: CURATOR, minimumCrowd: 0 });
    await sync();
    await prove();
    assert.equal(proofs(), 2);
    await open();
    await ahead();
    origins.close();
    await prove();
    assert.equal(proofs(), 2);
  });

  it("has the stored root in a later process, or a newer one if it was never stored and so never shown", async () => {
    for (const isStored of [false, true]) {
      await open();
      await ahead();
      const put = store.put.bind(store);
      store.put = async (...record) => {
        if (isStored) await put(...record);
        throw new Error("the process died");
      };
      assert.equal(await prove().catch(String), "Error: the process died");
      store.put = put;
      origins.close();
      const { maskRoot } = await nextHead();
      origins = await payers.follow(wallet);
      await sync();
      assert.equal((await prove()).maskRoot, isStored ? payers.curator.heads[0]!.head.maskRoot : maskRoot);
      assert.equal(await stored(), 1);
    }
  });
});

describe("the origins that a wallet keeps ahead", () => {
  const proved = (nullifier: bigint, maskRoot = 1n) => ({ nullifier, maskRoot, proof: [] });

  it("are at most sixteen: another one replaces the oldest, and ends its proof", async () => {
    const kept = new OriginsAhead();
    const unfinished = kept.prove(
      0n,
      1n,
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("replaced")));
        }),
    );
    for (let nullifier = 1n; nullifier <= 17n; nullifier += 1n)
      await kept.prove(nullifier, 1n, async () => proved(nullifier));
    assert.equal(await unfinished.catch(String), "Error: replaced");
    const taken = Array.from({ length: 18 }, (_, i) => kept.take(BigInt(i), 1n)?.nullifier);
    assert.deepEqual(taken, [undefined, undefined, ...Array.from({ length: 16 }, (_, i) => BigInt(i + 2))]);
  });

  it("are of one note and one root each, also for a second set with the same root", async () => {
    const kept = new OriginsAhead();
    for (const root of [1n, 2n, 3n]) await kept.prove(5n, root, async () => proved(5n, root));
    kept.keep(new Set([1n, 2n]));
    const taken = [1n, 1n, 2n, 3n].map((root) => kept.take(5n, root)?.maskRoot);
    assert.deepEqual(taken, [1n, 1n, 2n, undefined]);
  });
});
