// The payer's wallet: it takes heads, shows origins, and claims its payments, so that change and recipients inherit.
import { randomSeed } from "@sotto/protocol";
import { rejection, thrown } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { dyingStore } from "../../../wallet/test/support/world.ts";
import type { OriginProver } from "../../src/client.ts";
import { CLAIMS_PATH, MAX_CLAIMS } from "../../src/index.ts";
import { parseFollowed } from "../../src/wallet/options.ts";
import type { Origins } from "../../src/wallet.ts";
import { CURATOR, disk, MIRROR, Payers } from "../support/payer.ts";

const noteAt = (wallet: Wallet, leaf: number) => wallet.notes().find(({ leafIndex }) => leafIndex === leaf)!;
const standings = (origins: Origins) =>
  Object.fromEntries(
    origins
      .status()[0]!
      .notes.map(({ note, standing }) => [
        note.leafIndex,
        "why" in standing ? `${standing.in}: ${standing.why}` : standing.in,
      ]),
  );
/** Syncs, and expects that everything went well. */
async function sync(origins: Origins, options = {}) {
  const { problems, ...done } = await origins.sync(options);
  assert.deepEqual(problems, []);
  return done;
}

describe("a wallet that follows a curator", function () {
  slow(this, "proofs of origins are made");

  it("takes the newest head and knows which notes are in the set", async () => {
    const payers = new Payers();
    const wallet = await payers.funded([5_000n, 6_000n]);
    const origins = await payers.follow(wallet);
    await payers.curator.read();
    payers.curator.accept(0);
    await payers.curator.sign();
    assert.deepEqual(await sync(origins), { heads: 1, claims: 0 });
    assert.deepEqual(await sync(origins), { heads: 0, claims: 0 });
    assert.deepEqual(standings(origins), { 0: "set", 1: "waiting: judgement" });
    assert.deepEqual(
      [0, 1].map((leaf) => origins.canProve(noteAt(wallet, leaf), payers.set)),
      [true, false],
    );
    const [status] = origins.status();
    assert.deepInclude(status, { crowd: 1, problem: undefined, removal: undefined, stopped: undefined });
    assert.deepInclude(status!.head, { number: 0, members: 1, claims: 0 });
  });

  it("never asks for anything that depends on its notes", async () => {
    const asked = async (amounts: bigint[]) => {
      const payers = new Payers();
      await payers.funded([7_000n, 8_000n]);
      const origins = await payers.follow(await payers.funded(amounts));
      await payers.curator.acceptNew();
      await sync(origins);
      return payers.asked.map((line) => line.replace(/[0-9a-f]{64}/u, "HASH"));
    };
    const one = await asked([5_000n]);
    assert.deepEqual(one, await asked([6_000n]));
    assert.deepEqual(one, [
      `GET ${CURATOR}/head.json`,
      `GET ${CURATOR}/manifests/HASH.bin`,
      `GET ${CURATOR}/bitmaps/HASH.bin`,
    ]);
  });

  it("shows one root for a nullifier, also after newer heads, and in a later process", async () => {
    const payers = new Payers();
    const store = disk();
    const seed = randomSeed();
    const wallet = await payers.funded([5_000n], { store, seed });
    const origins = await payers.follow(wallet);
    const first = await payers.curator.acceptNew();
    await sync(origins);
    const [claim, twin] = await Promise.all([origins.prove(0, payers.set), origins.prove(0, payers.set)]);
    assert.deepEqual(twin, claim);
    assert.equal(claim.maskRoot, first.head.maskRoot);
    assert.equal(claim.nullifier, noteAt(wallet, 0).nullifier);
    assert.equal(
      await payers.curator.claim(claim),
      "ORIGIN_NOT_SETTLED",
      "its root is known, and the note is not spent",
    );
    await payers.funded([6_000n]);
    payers.minute();
    await payers.curator.acceptNew();
    assert.equal((await sync(origins)).heads, 1);
    assert.deepEqual(await origins.prove(0, payers.set), claim);
    origins.close();
    await wallet.close();
    const later = await payers.follow(await payers.wallet({ store, seed }));
    assert.deepEqual(await later.prove(0, payers.set), claim);
    assert.deepEqual(
      payers.prover.asked.filter((circuit) => circuit === "origin"),
      ["origin"],
    );
  });

  it("resumes after a kill at any write, and shows the origin that it stored", async () => {
    let isDead = true;
    for (let writes = 0; isDead; writes += 1)
      for (const after of [false, true]) {
        const payers = new Payers();
        const seed = randomSeed();
        const store = disk();
        await payers.follow(await payers.funded([5_000n], { store, seed }));
        await payers.curator.acceptNew();
        const dying = await payers.follow(await payers.wallet({ store: dyingStore(store, writes, after), seed }));
        const shown = await dying
          .sync()
          .then(() => dying.prove(0, payers.set))
          .catch((error: Error) => {
            assert.include(error.message, "the process died");
          });
        isDead = shown === undefined;
        const origins = await payers.follow(await payers.wallet({ store, seed }));
        await sync(origins);
        assert.deepInclude(origins.status()[0]!.head, { number: 0, members: 1 });
        const claim = await origins.prove(0, payers.set);
        if (shown !== undefined) assert.deepEqual(claim, shown);
        assert.equal(await payers.curator.claim(claim), "ORIGIN_NOT_SETTLED");
        if (isDead && writes > 9) assert.fail("it dies forever");
      }
  });

  it("claims a payment once it is confirmed, so that its change and the recipient inherit", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n], { finality: 4 });
    const merchant = await payers.wallet();
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    for (let i = 0; i < 4; i += 1) payers.minute();
    await sync(origins);
    // The payment's block has two more on top of it.
    await payers.pay(payer, merchant, 1_000n);
    assert.deepInclude(await sync(origins), { claims: 0 });
    assert.equal(origins.status()[0]!.spends.confirmations, 1);
    for (let i = 0; i < 2; i += 1) payers.minute();
    assert.deepEqual(await sync(origins), { heads: 0, claims: 1 });
    assert.deepEqual(await sync(origins), { heads: 0, claims: 0 });
    assert.equal(origins.status()[0]!.spends.done, 1);
    assert.deepEqual(standings(origins), { 2: "waiting: head" });
    await payers.curator.sign();
    await merchant.scan();
    assert.equal((await sync(origins)).heads, 0, "its block lacks confirmations");
    for (let i = 0; i < 4; i += 1) payers.minute();
    await sync(origins);
    assert.deepEqual(standings(origins), { 2: "set" });
    const theirs = await payers.follow(merchant);
    await sync(theirs);
    assert.deepEqual(standings(theirs), { 1: "set" });
  });

  it("sends the claims of one spend in one request, and those of two spends never together", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n, 7_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    await sync(origins);
    await payers.merge(payer, { target: 5_500n });
    await payers.pay(payer, await payers.wallet(), 1_000n);
    const sizes: number[] = [];
    const answer = payers.servers.get(CURATOR)!;
    payers.servers.set(CURATOR, async (input, init) => {
      if (String(input).endsWith(CLAIMS_PATH)) sizes.push(JSON.parse(String(init?.body)).claims.length);
      return answer(input, init);
    });
    await sync(origins);
    // The payment spent the merged note, which the next head brings into the set.
    payers.minute();
    await payers.curator.sign();
    await sync(origins);
    assert.deepEqual(sizes, [3, 1]);
    assert.isAtMost(3, MAX_CLAIMS);
  });

  it("sends claims again after the curator was unreachable or answered nonsense, with growing pauses", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    await sync(origins);
    await payers.pay(payer, await payers.wallet(), 1_000n);
    const good = payers.servers.get(CURATOR)!;
    const answers: (() => Response)[] = [
      () => new Response("busy", { status: 503 }),
      () => new Response("<html>"),
      () => Response.json({ results: [] }),
      () => Response.json({ results: [7] }),
      () => new Response("x".repeat(1 << 20)),
      () => {
        throw new TypeError("connection reset");
      },
    ];
    const claims: unknown[] = [];
    for (const answer of answers) {
      payers.servers.set(CURATOR, async (input, init) => {
        if (!String(input).endsWith(CLAIMS_PATH)) return good(input, init);
        claims.push(JSON.parse(String(init?.body)));
        return answer();
      });
      const { problems } = await origins.sync({ retry: true });
      assert.deepInclude(problems[0]!.error, { code: "CURATOR_UNREACHABLE" });
      // Too early.
      await origins.sync();
    }
    assert.lengthOf(claims, answers.length);
    for (const claim of claims) assert.deepEqual(claim, claims[0]);
    payers.servers.set(CURATOR, good);
    payers.minute(5);
    assert.equal((await sync(origins)).claims, 0);
    payers.minute(60);
    assert.equal((await sync(origins)).claims, 1);
  });

  it("reports claims that the curator refuses, and does not repeat them", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    const { head } = await payers.curator.acceptNew();
    await payers.funded([6_000n]);
    payers.minute();
    await payers.curator.acceptNew();
    await sync(origins);
    // Another store with the same words showed another root.
    const { nullifier } = payer.notes()[0]!;
    payers.curator.state.apply({
      type: "claim",
      claim: { nullifier: nullifier!, maskRoot: head.maskRoot, proof: [] },
    });
    await payers.pay(payer, await payers.wallet(), 1_000n);
    assert.equal((await sync(origins)).claims, 0);
    assert.equal(origins.status()[0]!.spends.refused, 1);
    assert.equal((await sync(origins, { retry: true })).claims, 0);
    assert.lengthOf(
      payers.asked.filter((line) => line.startsWith("POST")),
      1,
    );
  });

  it("does not claim what was spent before it followed, unless its owner says so", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    await payers.curator.acceptNew();
    await payers.pay(payer, await payers.wallet(), 1_000n);
    const origins = await payers.follow(payer);
    assert.equal((await sync(origins)).claims, 0);
    assert.equal(origins.status()[0]!.spends.earlier, 1);
    await origins.follow({ ...payers.set, url: CURATOR }, { claimEarlier: true });
    assert.equal((await sync(origins)).claims, 1);
  });

  it("does not claim a payment for which it showed a root that was no longer good", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    await sync(origins);
    await origins.prove(0, payers.set);
    await payers.funded([6_000n]);
    payers.minute();
    await payers.curator.acceptNew();
    await sync(origins);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), true);
    payers.minute(70);
    await payer.scan();
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), false);
    await payers.pay(payer, await payers.wallet(), 1_000n);
    assert.equal((await sync(origins)).claims, 0);
    assert.equal(origins.status()[0]!.spends.late, 1);
    assert.deepEqual(Object.values(standings(origins)), ["outside: spent"]);
  });

  it("knows when its root was replaced, also if newer heads followed before it read them", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    await sync(origins);
    await origins.prove(0, payers.set);
    await payers.funded([6_000n]);
    await payers.curator.acceptNew();
    payers.minute(50);
    await payers.curator.sign();
    await sync(origins);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), true);
    payers.minute(15);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), false);
  });

  it("shows nothing new while it cannot read whether its head is still the newest", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    await sync(origins);
    await origins.prove(0, payers.set);
    payers.servers.clear();
    payers.minute(29);
    const provable = () => [0, 1].map((leaf) => origins.canProve(noteAt(payer, leaf), payers.set));
    assert.deepEqual(provable(), [true, true]);
    payers.minute(1);
    assert.deepEqual(provable(), [true, false], "what was shown before shows nothing new");
    const error = await rejection(origins.prove(1, payers.set));
    assert.deepInclude(error, { code: "ORIGIN_HEAD_OLD" });
    assert.isAtLeast(error.details["ageMs"] as number, 1_800_000);
    payers.servers.set(CURATOR, payers.curator.fetch(CURATOR));
    await sync(origins);
    assert.deepEqual(provable(), [true, true]);
  });

  it("does not take its head for the newest while a mirror holds heads back", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const { curator } = payers;
    await curator.acceptNew();
    const twin = payers.createCurator({ secret: curator.secret });
    twin.publish(curator.heads[0]!);
    payers.servers.set(MIRROR, twin.fetch(MIRROR));
    const origins = await payers.follow(payer, {}, [MIRROR]);
    await sync(origins);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), true);
    payers.minute(15);
    await curator.sign();
    await sync(origins);
    payers.minute(16);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), true, "a newer head has the same root");
    await payers.funded([6_000n]);
    await curator.acceptNew();
    payers.minute(15);
    await sync(origins);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), false);
    twin.publish(curator.heads[1]!);
    twin.publish(curator.heads[2]!);
    await sync(origins);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), true);
  });

  it("shows nothing new with a head whose block is gone", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    payers.minute();
    await payers.curator.acceptNew();
    await sync(origins);
    payers.world.chain.takeBack(1);
    payers.minute();
    await sync(origins);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), false);
    assert.equal((await rejection(origins.prove(0, payers.set))).code, "ORIGIN_HEAD_OLD");
    payers.minute();
    await payers.curator.sign();
    await sync(origins);
    assert.equal(origins.canProve(noteAt(payer, 0), payers.set), true);
  });

  it("shows nothing while the crowd is below the minimum, and counts claims and other sets that it showed", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 5_000n, 5_000n, 5_000n]);
    const other = payers.createCurator({ name: "other" });
    payers.servers.set("https://other.example", other.fetch("https://other.example"));
    const origins = await payers.follow(payer);
    const second = { curator: other.curator as `0x${string}`, name: "other" };
    await origins.follow({ ...second, url: "https://other.example", minimumCrowd: 0 });
    await origins.follow({ ...payers.set, url: CURATOR, minimumCrowd: 4 });
    await payers.curator.acceptNew();
    await other.read();
    other.accept(0, 1, 2);
    await other.sign();
    await sync(origins);
    assert.deepEqual([origins.crowd(payers.set), origins.crowd(second)], [4, 3]);
    await origins.prove(0, payers.set);
    await origins.prove(0, second);
    // From now on, the other set counts, too.
    assert.equal(origins.crowd(payers.set), 3);
    const error = await rejection(origins.prove(1, payers.set));
    assert.deepInclude(error, { code: "ORIGIN_CROWD_SMALL" });
    assert.deepEqual(error.details, { crowd: 3, minimum: 4 });
    // What the client asks before it chooses a note. Note 0 was shown in both sets before.
    const shown: OriginProver = origins;
    const named = (leaf: number) =>
      shown.sets().flatMap((set) => (shown.canProve(noteAt(payer, leaf), set) ? [set.name] : []));
    assert.deepEqual([0, 1, 3].map(named), [["clean", "other"], ["other"], []]);
    assert.sameMembers(
      shown.sets().map(({ name, chainId }) => `${name} ${chainId}`),
      ["clean 31337", "other 31337"],
    );
    // An origin that was shown before shows nothing new.
    await origins.prove(0, payers.set);
    await payers.pay(payer, await payers.wallet(), 1_000n, { only: ({ leafIndex }) => leafIndex === 0 });
    await sync(origins);
    payers.minute();
    await payers.curator.sign();
    await other.sign();
    await sync(origins);
    // Two notes more in each set, and one claim in each log.
    assert.equal(origins.crowd(payers.set), 3);
  });

  it("asks its owner by default below a thousand", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    await origins.unfollow(payers.set);
    await origins.follow({ ...payers.set, url: CURATOR });
    await payers.curator.acceptNew();
    await sync(origins);
    const error = await rejection(origins.prove(0, payers.set));
    assert.deepEqual(error.details, { crowd: 1, minimum: 1_000 });
    // Neither does it claim.
    await payers.pay(payer, await payers.wallet(), 1_000n);
    const { problems, claims } = await origins.sync();
    assert.equal(claims, 0);
    assert.deepInclude(problems[0]!.error, { code: "ORIGIN_CROWD_SMALL" });
  });

  it("says why an origin cannot be shown", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    const why = async (leaf = 0) => (await rejection(origins.prove(leaf, payers.set))).details["why"];
    assert.equal(await why(), "no head");
    await payers.curator.read();
    await payers.curator.sign();
    await sync(origins);
    assert.equal(await why(), "judgement");
    assert.equal(await why(7), "no note");
    const stranger = { ...payers.set, name: "unknown" };
    assert.equal((await rejection(origins.prove(0, stranger))).code, "ORIGIN_NOT_FOLLOWED");
    assert.equal((await rejection(origins.unfollow(stranger))).code, "ORIGIN_NOT_FOLLOWED");
    const refused = [{ url: "ftp://a" }, { curator: "0x1" }, { name: "A" }, { minimumCrowd: -1 }];
    for (const changes of refused)
      assert.equal(
        (await rejection(origins.follow({ ...payers.set, url: CURATOR, ...changes }))).code,
        "INVALID_OPTION",
      );
    const open = { ...payers.set, url: "http://curator.example" };
    assert.equal(parseFollowed(open, 31337n).url, open.url, "a local chain");
    assert.equal(thrown(() => parseFollowed(open, 1n)).code, "INVALID_OPTION");
  });

  it("syncs in the background until it is closed", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.acceptNew();
    const problems: unknown[] = [];
    origins.start((error) => problems.push(error));
    while (origins.status()[0]!.head === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    origins.close();
    assert.equal((await rejection(origins.sync())).code, "WALLET_CLOSED");
    assert.deepEqual(problems, []);
  });
});

describe("notes of a wallet that follows a curator", function () {
  slow(this, "proofs of origins are made");

  it("from outside are not merged with those inside, and dust taints nothing", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n]);
    const origins = await payers.follow(payer);
    const attacker = await payers.funded([9_000n]);
    await payers.curator.read();
    payers.curator.accept(0, 1);
    await payers.curator.sign();
    await payers.pay(attacker, payer, 1_000n);
    await payers.pay(attacker, payer, 1_000n);
    payers.minute(60 * 24 + 1);
    await payers.curator.sign();
    await sync(origins);
    assert.deepEqual(Object.values(standings(origins)), ["set", "set", "outside: unclaimed", "outside: unclaimed"]);
    const account = `0x${"cc".repeat(20)}`;
    assert.equal((await rejection(payer.withdraw({ recipient: account, amount: 12_000n }))).code, "NOTES_APART");
    const merged = await payer.merge();
    assert.deepEqual(merged.notes, [0, 1]);
    await payer.discard(merged.id);
    const exit = await payer.exit({ recipient: account });
    assert.deepEqual(exit.notes, [0, 1]);
    await payer.discard(exit.id);
    assert.lengthOf((await payer.merge({ mix: true })).notes, 4);
    origins.close();
  });

  it("that are on their way into the set are merged with no others", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n]);
    const origins = await payers.follow(payer);
    const attacker = await payers.funded([9_000n]);
    await payers.curator.read();
    payers.curator.accept(0, 1);
    await payers.curator.sign();
    await sync(origins);
    await payers.pay(payer, await payers.wallet(), 1_000n);
    await payers.pay(attacker, payer, 1_000n);
    await sync(origins);
    const waiting = standings(origins);
    assert.sameMembers(Object.values(waiting), ["set", "waiting: head", "waiting: head"]);
    assert.equal((await rejection(payer.merge())).code, "NOTES_APART");
    payers.minute();
    await payers.curator.sign();
    await sync(origins);
    assert.sameMembers(Object.values(standings(origins)), ["set", "set", "waiting: sender"]);
    assert.lengthOf((await payer.merge()).notes, 2);
  });

  it("are kept apart by each set that the wallet follows, and no longer after it is closed", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n]);
    const origins = await payers.follow(payer);
    await payers.curator.read();
    payers.curator.accept(0);
    await payers.curator.sign();
    await sync(origins);
    assert.equal((await rejection(payer.merge())).code, "NOTES_APART");
    await origins.unfollow(payers.set);
    await payer.discard((await payer.merge()).id);
    await origins.follow({ ...payers.set, url: CURATOR });
    await sync(origins);
    assert.equal((await rejection(payer.merge())).code, "NOTES_APART");
    origins.close();
    assert.lengthOf((await payer.merge()).notes, 2);
  });

  it("of one deposit wait together", async () => {
    const payers = new Payers();
    const payer = await payers.funded([5_000n, 6_000n]);
    const origins = await payers.follow(payer);
    await sync(origins).catch(() => undefined);
    assert.lengthOf((await payer.merge()).notes, 2);
    origins.close();
  });
});
