import { decodeEvent, type PoolEvent } from "@sotto/chain";
import { POOL } from "@sotto/test-chain/pool";
import { assert } from "chai";
import { World } from "../../../wallet/test/support/world.ts";
import {
  type AuditSource,
  auditSet,
  contradictEachOther,
  encodeEntry,
  type HeadFacts,
  type OriginHead,
  type OriginSet,
  type SignedHead,
  signHead,
} from "../../src/index.ts";
import { MemoryCurator } from "../support/memory-curator.ts";

const proof = Array.from({ length: 8 }, (_, i) => String(i + 1));

/** A pool in which two accounts deposit, one of them accepted, and a payment and a merge inherit. */
async function play(): Promise<{ world: World; curator: MemoryCurator; set: OriginSet }> {
  const world = new World();
  const curator = new MemoryCurator({ chain: world.chain, pool: POOL });
  const [payer, merchant] = [await world.wallet(), await world.wallet()];
  await world.deposit(payer, [5_000n, 6_000n]);
  await world.deposit(merchant, [7_000n]);
  await world.append();
  await curator.read();
  curator.accept(0, 1);
  curator.refuse(2);
  await curator.sign();
  const spend = async (make: () => Promise<void>) => {
    await payer.scan();
    const before = payer.notes().filter(({ state }) => state === "spendable");
    await make();
    await payer.scan();
    const left = new Set(payer.notes().flatMap(({ state, leafIndex }) => (state === "spendable" ? [leafIndex] : [])));
    const { maskRoot } = curator.heads.at(-1)!.head;
    for (const { leafIndex, nullifier } of before)
      if (!left.has(leafIndex)) assert.equal(await curator.claim({ nullifier: nullifier!, maskRoot, proof }), "stored");
    await world.append();
    await curator.sign();
  };
  const recipient = world.recipient(merchant);
  await spend(async () => {
    const request = { recipient, amount: 1_000n, resourceUrl: "https://data.example/1" };
    world.settle(await payer.pay(request));
  });
  await spend(async () => {
    world.withdraw(await payer.merge());
  });
  const set = { chainId: 31337, pool: POOL, curator: curator.curator, name: "clean" } as OriginSet;
  return { world, curator, set };
}

async function sourceOf(
  world: World,
  curator: MemoryCurator,
  changes: Partial<AuditSource> = {},
): Promise<AuditSource> {
  const logs = await world.chain.logs({ address: POOL, from: 0, to: world.chain.height });
  return {
    heads: curator.heads,
    lines: curator.lines,
    events: logs.flatMap((log): PoolEvent[] => {
      const event = decodeEvent(log);
      return event === undefined ? [] : [event];
    }),
    leafAt: (leaf) => curator.leaves[leaf]!,
    blockHash: async (number) => (await world.chain.block(number))?.hash,
    verify: async () => true,
    ...changes,
  };
}

describe("the audit of a curator", () => {
  let world: World;
  let curator: MemoryCurator;
  let set: OriginSet;

  beforeEach(async () => {
    ({ world, curator, set } = await play());
  });

  const audit = async (changes: Partial<AuditSource> = {}) => auditSet(set, await sourceOf(world, curator, changes));

  it("finds nothing false in an honest set, and says what it covers", async () => {
    const report = await audit();
    assert.deepEqual(report.contradictions, []);
    // Deposits 0 and 1, the payment's 3 and 4, and the merge's 5.
    assert.deepInclude(report, { heads: 3, orphaned: 0, entries: 6, claims: 3, members: 5 });
    assert.isFalse(curator.state.mask.has(2));
  });

  /** Signs what an honest curator would not. */
  const forge = (change: Partial<OriginHead>): SignedHead => {
    const { head } = curator.heads.at(-1)!;
    return signHead({ ...head, ...change }, curator.secret);
  };
  const convict = async (code: string, says: RegExp, changes: Partial<AuditSource> = {}) => {
    const { contradictions } = await audit(changes);
    assert.lengthOf(contradictions, 1);
    assert.equal(contradictions[0]!.code, code);
    assert.match(contradictions[0]!.says, says);
  };
  const withLast = (head: SignedHead) => ({ heads: [...curator.heads.slice(0, -1), head] });

  it("convicts a curator of a note that it added or removed without an entry", async () => {
    for (const [leaf, value] of [
      [2, true],
      [0, false],
    ] as const) {
      curator.state.mask.set(leaf, value);
      await curator.sign();
      await convict("WRONG_MASK", /mask root/u);
      curator.heads.pop();
      curator.state.mask.set(leaf, !value);
    }
  });

  it("convicts a curator of bitmaps that are not those of its mask tree", async () => {
    await convict("WRONG_MANIFEST", /manifest/u, withLast(forge({ manifest: `0x${"12".repeat(32)}` })));
  });

  it("convicts a curator of a claim with a wrong proof, a second claim, or one with a root of no head", async () => {
    await convict("WRONG_PROOF", /entry 3/u, { verify: async ({ nullifier }) => nullifier === 1n });
    const again = async (change: object) => {
      const claim = { nullifier: 99n, maskRoot: curator.heads[0]!.head.maskRoot, proof, ...change };
      curator.log({ type: "claim", claim });
      await curator.sign();
      return curator.lines.length - 1;
    };
    const { nullifier } = JSON.parse(curator.lines[3]!);
    await again({ nullifier: BigInt(nullifier) });
    await convict("WRONG_ENTRY", /CLAIMED/u);
    ({ world, curator, set } = await play());
    await again({ maskRoot: 5n });
    await convict("WRONG_ENTRY", /ROOT_UNKNOWN/u);
  });

  it("convicts a curator that accepts what is no deposit", async () => {
    curator.accept(3);
    await curator.sign();
    await convict("WRONG_ENTRY", /NOT_A_DEPOSIT/u);
  });

  it("convicts a curator of a log that was changed, cut or is malformed", async () => {
    const { lines } = curator;
    const changed = lines.with(2, encodeEntry({ type: "accept", leaf: 2 }));
    await convict("WRONG_LOG", /published/u, { lines: changed });
    await convict("WRONG_LOG", /entries/u, { lines: lines.slice(0, -1) });
    await convict("WRONG_ENTRY", /MALFORMED/u, { lines: lines.with(1, `${lines[1]} `) });
  });

  it("convicts a curator of heads that do not follow each other", async () => {
    const { head } = curator.heads.at(-1)!;
    await convict("HEADS_BROKEN", /follow/u, withLast(forge({ number: head.number + 1 })));
    await convict("HEADS_BROKEN", /follow/u, withLast(forge({ previous: `0x${"12".repeat(32)}` })));
    await convict("HEADS_BROKEN", /follow/u, { heads: curator.heads.slice(1) });
    await convict("GOES_BACK", /time/u, withLast(forge({ time: curator.heads[1]!.head.time })));
    await convict("GOES_BACK", /fewer/u, withLast(forge({ entries: 1 })));
    await convict("WRONG_LOG", /3 claims, not 2/u, withLast(forge({ claims: 2 })));
    await convict("OTHER_SET", /dirty/u, withLast(forge({ name: "dirty" })));
    await convict("WRONG_LEAVES", /tree has 6/u, withLast(forge({ leaves: head.leaves - 1 })));
  });

  it("does not hold a reorganization against a curator that says so", async () => {
    const facts: Partial<HeadFacts> = { blockHash: `0x${"34".repeat(32)}` };
    await curator.sign(facts);
    curator.log({ type: "reorg", leaf: 3 });
    await curator.sign();
    const report = await audit();
    assert.deepEqual(report.contradictions, []);
    assert.equal(report.orphaned, 1);
  });

  it("knows two stories from two heads", () => {
    const [first, second] = curator.heads as [SignedHead, SignedHead];
    const last = curator.heads.at(-1)!;
    assert.isFalse(contradictEachOther(first, first));
    assert.isFalse(contradictEachOther(first, second));
    assert.isTrue(contradictEachOther(last, forge({ maskRoot: 5n })));
    assert.isTrue(contradictEachOther(last, forge({ number: last.head.number + 1, maskRoot: 5n })), "one time");
    assert.isFalse(contradictEachOther(last, forge({ name: "other" })));
  });
});
