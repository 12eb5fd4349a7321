import { decodeEvent, type PoolEvent } from "@sotto/chain";
import { POOL } from "@sotto/test-chain/pool";
import { assert } from "chai";
import { World } from "../../../wallet/test/support/world.ts";
import {
  type AuditSource,
  auditSet,
  chainLine,
  contradictEachOther,
  encodeEntry,
  type HeadFacts,
  type OriginHead,
  type OriginSet,
  type SignedHead,
  signHead,
  ZERO_BYTES,
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
    lastBlock: world.chain.height,
    block: (number) => world.chain.block(number),
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

  it("convicts a curator of a claim with a wrong proof, and of another number of claims", async () => {
    await convict("WRONG_PROOF", /entry 3/u, { verify: async ({ nullifier }) => nullifier === 1n });
    await convict("WRONG_COUNT", /3 claims/u, withLast(forge({ claims: 2 })));
  });

  it("takes no notice of entries that do not count", async () => {
    curator.accept(3, 1_000);
    curator.log({ type: "claim", claim: { nullifier: 99n, maskRoot: 5n, proof } });
    await curator.sign();
    const { contradictions, members } = await audit();
    assert.deepEqual(contradictions, []);
    assert.equal(members, 5);
  });

  it("convicts a curator of a malformed entry that it signed", async () => {
    const line = ` ${curator.lines[0]}`;
    const log = chainLine(curator.heads.at(-1)!.head.log, line);
    const { head } = await curator.sign({ entries: curator.lines.length + 1, log });
    await convict("WRONG_ENTRY", /entry 6/u, { lines: [...curator.lines, line] });
    assert.equal(head.number, 3);
  });

  it("does not hold it against a curator that what was read is incomplete, changed or not signed", async () => {
    const { lines, heads } = curator;
    const { head, signature } = heads.at(-1)!;
    const other = { head: { ...head, maskRoot: 5n }, signature };
    for (const [says, changes] of [
      [/lines/u, { lines: lines.with(2, encodeEntry({ type: "accept", leaf: 2, transaction: ZERO_BYTES })) }],
      [/lines/u, { lines: lines.with(1, `${lines[1]} `) }],
      [/entries/u, { lines: lines.slice(0, -1) }],
      [/out of turn/u, { heads: heads.slice(1) }],
      [/out of turn/u, { heads: [heads[0]!, heads[2]!] }],
      [/of the set/u, withLast(forge({ name: "dirty" }))],
      [/signature/u, withLast(other)],
      [/events/u, { lastBlock: head.block - 1 }],
      [/not read/u, { lastBlock: head.block - 1, block: async () => undefined }],
    ] as const) {
      const { unfinished, contradictions } = await audit(changes);
      assert.deepEqual(contradictions, []);
      assert.match(unfinished ?? "", says);
    }
    assert.isUndefined((await audit()).unfinished);
  });

  it("convicts a curator of heads that do not follow each other or the chain", async () => {
    const { head } = curator.heads.at(-1)!;
    await convict("OTHER_PREVIOUS", /another/u, withLast(forge({ previous: `0x${"12".repeat(32)}` })));
    await convict("GOES_BACK", /time/u, withLast(forge({ time: curator.heads[1]!.head.time })));
    await convict("GOES_BACK", /fewer/u, withLast(forge({ entries: 1 })));
    const { block, blockHash, blockTime } = curator.heads[0]!.head;
    await convict("GOES_BACK", /block/u, withLast(forge({ block, blockHash, blockTime })));
    await convict("WRONG_LEAVES", /tree has 6/u, withLast(forge({ leaves: head.leaves - 1 })));
    await convict("WRONG_TIME", /has the time/u, withLast(forge({ blockTime: head.blockTime + 30 * 86_400 })));
    world.chain.time += 3_600;
    world.chain.mine();
    await convict("WRONG_TIME", /before that/u, {
      heads: [...curator.heads, await curator.sign({ time: head.time + 60 })].slice(0, 4),
    });
  });

  /** A head on a block that the chain does not have. */
  const orphan = (change: Partial<HeadFacts> = {}) => curator.sign({ blockHash: `0x${"34".repeat(32)}`, ...change });

  it("does not hold a reorganization against a curator, and lets no root of it count", async () => {
    // The curator accepted a note of a payment on the other chain, and signed what it saw.
    curator.state.mask.set(2, true);
    const { head } = await orphan();
    curator.state.mask.set(2, false);
    const claim = { nullifier: 98n, maskRoot: head.maskRoot, proof };
    curator.log({ type: "claim", claim });
    await curator.sign();
    const report = await audit();
    assert.deepEqual(report.contradictions, []);
    assert.equal(report.orphaned, 1);
    assert.equal(report.members, 5);
  });

  it("convicts a curator that brings notes in over a head on no chain", async () => {
    curator.state.mask.set(2, true);
    await orphan();
    await curator.sign();
    await convict("WRONG_MASK", /mask root/u);
  });

  it("knows two stories from two heads", () => {
    const [first, second] = curator.heads as [SignedHead, SignedHead];
    const last = curator.heads.at(-1)!;
    assert.isFalse(contradictEachOther(first, first));
    assert.isFalse(contradictEachOther(first, second));
    assert.isTrue(contradictEachOther(last, forge({ maskRoot: 5n })));
    assert.isTrue(contradictEachOther(last, forge({ number: last.head.number + 1, maskRoot: 5n })), "one time");
    assert.isFalse(contradictEachOther(last, forge({ name: "other" })));
    const unsigned = { head: { ...last.head, maskRoot: 5n }, signature: last.signature };
    assert.isFalse(contradictEachOther(last, unsigned), "anybody can write a head");
  });
});
