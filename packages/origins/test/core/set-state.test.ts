import type { PoolEvent } from "@sotto/chain";
import { expectCode } from "@sotto/test-kit/rejection";
import { assert } from "chai";
import { type JudgementEntry, type LogEntry, ROOT_GRACE_SECONDS, RootHistory, SetState } from "../../src/index.ts";

/** The transaction of a block. @param fork another one for another chain */
const transactionOf = (block: number, fork = 0): `0x${string}` =>
  `0x${(block + 256 * fork).toString(16).padStart(64, "0")}`;
const place = (blockNumber: number, timestamp = 1_000_000 + 12 * blockNumber) => ({
  blockNumber,
  blockHash: `0x${blockNumber.toString(16).padStart(64, "0")}`,
  transactionHash: transactionOf(blockNumber),
  logIndex: 0,
  timestamp,
});
const deposited = (leafIndex: number, block: number, fork = 0): PoolEvent => ({
  ...place(block),
  transactionHash: transactionOf(block, fork),
  type: "deposited",
  ownerTag: 1n,
  amount: 5n,
  commitment: BigInt(100 + leafIndex),
  leafIndex,
});
const settled = (nullifier: bigint, leafIndex: number, block: number, time?: number): PoolEvent => ({
  ...place(block, time),
  type: "settled",
  nullifier,
  digest: `0x${"00".repeat(32)}`,
  ephemeralX: 1n,
  hiddenCipherX: 1n,
  amountHint: 1n,
  changeHint: 1n,
  recipientCommitment: BigInt(100 + leafIndex),
  changeCommitment: BigInt(101 + leafIndex),
  leafIndex,
});
const withdrawn = (nullifiers: bigint[], leafIndex: number | undefined, block: number): PoolEvent => ({
  ...place(block),
  type: "withdrawn",
  recipient: `0x${"00".repeat(20)}`,
  digest: `0x${"00".repeat(32)}`,
  nullifiers: [...nullifiers, ...Array.from({ length: 8 - nullifiers.length }, () => 0n)],
  amount: 1n,
  fee: 0n,
  feeRecipient: `0x${"00".repeat(20)}`,
  validUntil: 1n,
  changeHint: leafIndex === undefined ? 0n : 1n,
  commitment: leafIndex === undefined ? 0n : BigInt(100 + leafIndex),
  leafIndex: leafIndex ?? 0,
});

/** A set whose leaves are the numbers from 100 on. A head is added after each step that a test marks. */
class Story {
  readonly state = new SetState((leaf) => BigInt(100 + leaf));
  time = 1_000_000;

  head(isOnChain = true): bigint {
    this.time += 60;
    const maskRoot = this.state.mask.root;
    this.state.addHead({ maskRoot, blockTime: this.time }, isOnChain);
    return maskRoot;
  }

  /** Judges deposits at these leaves, which were made in the block after their number. */
  judge(type: JudgementEntry["type"], ...leaves: number[]): void {
    for (const leaf of leaves) this.state.apply({ type, leaf, transaction: transactionOf(leaf + 1) });
  }

  claim(nullifier: bigint, maskRoot: bigint): void {
    this.state.apply({ type: "claim", claim: { nullifier, maskRoot, proof: [] } });
  }

  /** The leaves in the set below 20. */
  members(): number[] {
    return Array.from({ length: 20 }, (_, leaf) => leaf).filter((leaf) => this.state.mask.has(leaf));
  }
}

/** The events of deposits at the first leaves. */
const deposits = (count: number): PoolEvent[] => Array.from({ length: count }, (_, leaf) => deposited(leaf, leaf + 1));

describe("a set", () => {
  it("has accepted deposits, until they are refused, and nothing that was not judged", () => {
    const story = new Story();
    story.state.addEvents(deposits(3));
    assert.deepEqual(story.members(), []);
    story.judge("accept", 0, 2);
    assert.deepEqual(story.members(), [0, 2]);
    story.judge("refuse", 1, 2);
    assert.deepEqual(story.members(), [0]);
    story.judge("accept", 2);
    assert.deepEqual(story.members(), [0, 2]);
    const entry = { type: "accept", leaf: 2, transaction: transactionOf(3) } as const;
    assert.equal(story.state.judgementProblem(entry), "SAME_JUDGEMENT");
    assert.isUndefined(story.state.judgementProblem({ ...entry, type: "refuse" }));
    assert.equal(story.state.judgementProblem({ ...entry, transaction: transactionOf(2) }), "NOT_A_DEPOSIT");
    assert.equal(story.state.judgementProblem({ ...entry, leaf: 3 }), "NOT_A_DEPOSIT");
  });

  it("has nothing by judgements of what a payment made, or of other deposits than the chain's", () => {
    const story = new Story();
    story.state.addEvents([...deposits(1), settled(7n, 1, 2)]);
    for (const leaf of [1, 2, 2 ** 30 - 1]) story.state.apply({ type: "accept", leaf, transaction: transactionOf(2) });
    story.state.apply({ type: "accept", leaf: 0, transaction: transactionOf(1, 1) });
    assert.deepEqual(story.members(), []);
    assert.isUndefined(story.state.judgement(0));
    assert.isTrue(story.state.isDeposit(0));
    assert.isFalse(story.state.isDeposit(1));
  });

  it("gets both outputs of a payment with its claim, in any order", () => {
    for (const first of ["claim", "payment"] as const) {
      const story = new Story();
      story.state.addEvents(deposits(1));
      story.judge("accept", 0);
      const maskRoot = story.head();
      const claim = { nullifier: 7n, maskRoot };
      assert.equal(story.state.claimProblem(claim), "NOT_SETTLED");
      if (first === "claim") story.claim(7n, maskRoot);
      story.state.addEvents([settled(7n, 1, 2)]);
      if (first === "payment") {
        assert.isUndefined(story.state.claimProblem(claim));
        assert.deepEqual(story.members(), [0]);
        story.claim(7n, maskRoot);
      }
      assert.deepEqual(story.members(), [0, 1, 2]);
      assert.equal(story.state.claimProblem(claim), "CLAIMED");
      assert.isTrue(story.state.hasClaim(claim));
      story.claim(7n, maskRoot);
      assert.equal(story.state.claims, 2, "entries, also of one claim twice");
    }
  });

  it("gets the output of a merge with the last of its claims", () => {
    const story = new Story();
    story.state.addEvents([...deposits(2), withdrawn([7n, 8n, 9n], 2, 3)]);
    story.judge("accept", 0, 1);
    const root = story.head();
    story.claim(8n, root);
    story.claim(7n, root);
    assert.deepEqual(story.members(), [0, 1]);
    story.claim(9n, root);
    assert.deepEqual(story.members(), [0, 1, 2]);
  });

  it("gets nothing by the claims of a withdrawal without an output", () => {
    const story = new Story();
    story.state.addEvents([...deposits(1), withdrawn([7n], undefined, 2)]);
    story.judge("accept", 0);
    story.claim(7n, story.head());
    assert.deepEqual(story.members(), [0]);
  });

  it("gets nothing by a claim with a root that no head has, or whose head is not on the chain", () => {
    const story = new Story();
    story.state.addEvents([...deposits(1), settled(7n, 1, 2)]);
    story.head();
    story.judge("accept", 0);
    const claim = { nullifier: 7n, maskRoot: story.state.mask.root };
    assert.equal(story.state.claimProblem(claim), "ROOT_UNKNOWN");
    story.head(false);
    assert.equal(story.state.claimProblem(claim), "ROOT_UNKNOWN");
    story.claim(7n, claim.maskRoot);
    assert.deepEqual(story.members(), [0]);
  });

  it("does not inherit over a root that a head replaced more than an hour before the payment", () => {
    for (const [late, expected, problem] of [
      [0, [1, 2], undefined],
      [1, [], "ROOT_STALE"],
    ] as const) {
      const story = new Story();
      story.state.addEvents(deposits(1));
      story.judge("accept", 0);
      const root = story.head();
      story.judge("refuse", 0);
      story.head();
      const replaced = story.time;
      story.state.addEvents([settled(7n, 1, 2, replaced + ROOT_GRACE_SECONDS - 1 + late)]);
      assert.equal(story.state.claimProblem({ nullifier: 7n, maskRoot: root }), problem);
      story.claim(7n, root);
      assert.deepEqual(story.members(), [...expected]);
    }
  });

  it("lets a claim on a good root follow one that does not count", () => {
    const story = new Story();
    story.state.addEvents(deposits(2));
    story.judge("accept", 0);
    const old = story.head();
    story.judge("accept", 1);
    const good = story.head();
    const time = story.time + ROOT_GRACE_SECONDS;
    // Somebody who got the older proof logged it before the note was spent.
    story.claim(7n, old);
    story.state.addEvents([settled(7n, 2, 3, time)]);
    assert.deepEqual(story.members(), [0, 1]);
    assert.equal(story.state.claimProblem({ nullifier: 7n, maskRoot: old }), "ROOT_STALE");
    assert.isUndefined(story.state.claimProblem({ nullifier: 7n, maskRoot: good }));
    story.claim(7n, good);
    assert.deepEqual(story.members(), [0, 1, 2, 3]);
  });

  it("refuses an event without the time of its block, for which every root would be good", () => {
    const story = new Story();
    for (const time of [0, Number.NaN, -5])
      expectCode("INVALID_ARGUMENT", () => story.state.addEvents([settled(7n, 0, 1, time)]), /time/u);
  });
});

describe("a replay after a reorganization", () => {
  /** Replays the heads of a log: each with the events up to its block, unless its block is gone. */
  function replay(steps: readonly (PoolEvent | LogEntry | { readonly head: boolean })[]): Story {
    const story = new Story();
    for (const step of steps)
      if ("head" in step) story.head(step.head);
      else if (["accept", "refuse", "claim"].includes(step.type)) story.state.apply(step as LogEntry);
      else story.state.addEvents([step as PoolEvent]);
    return story;
  }
  const accept = (leaf: number, transaction: string): LogEntry => ({
    type: "accept",
    leaf,
    transaction: transaction as `0x${string}`,
  });

  it("does not keep the judgement of a leaf whose deposit is another one", () => {
    const entry = accept(0, transactionOf(1));
    // Another account deposited the same amount for the same owner: the commitment is the same.
    assert.deepEqual(replay([deposited(0, 1, 1), entry]).members(), []);
    assert.deepEqual(replay([deposited(0, 1), entry]).members(), [0]);
  });

  it("keeps the judgement of a deposit that was mined again later", () => {
    const entry = accept(0, transactionOf(1));
    assert.deepEqual(replay([entry, { head: false }, deposited(0, 1)]).members(), [0]);
    const refusal = { ...entry, type: "refuse" } as LogEntry;
    assert.deepEqual(replay([entry, refusal, { head: false }, deposited(0, 1)]).members(), []);
  });

  it("is the same in any order of events and entries between two heads", () => {
    const start: Parameters<typeof replay>[0] = [
      ...deposits(4),
      accept(0, transactionOf(1)),
      accept(1, transactionOf(2)),
      { head: true },
    ];
    const root = replay(start).state.mask.root;
    const claim = (nullifier: bigint): LogEntry => ({ type: "claim", claim: { nullifier, maskRoot: root, proof: [] } });
    const between = [
      settled(11n, 4, 5),
      claim(11n),
      withdrawn([12n, 13n], 6, 6),
      claim(13n),
      claim(12n),
      accept(3, transactionOf(4)),
      { ...accept(1, transactionOf(2)), type: "refuse" } as LogEntry,
    ];
    const expected = replay([...start, ...between]);
    assert.deepEqual(expected.members(), [0, 3, 4, 5, 6]);
    for (let turn = 1; turn < between.length; turn += 1) {
      const turned = [...between.slice(turn), ...between.slice(0, turn)];
      // The two judgements of one leaf keep their order: nothing else is about leaf 1.
      assert.equal(replay([...start, ...turned]).state.mask.root, expected.state.mask.root);
    }
  });

  it("does not inherit over the root of a head whose block is gone", () => {
    const judged = [...deposits(1), accept(0, transactionOf(1))];
    const root = replay(judged).state.mask.root;
    const claim: LogEntry = { type: "claim", claim: { nullifier: 7n, maskRoot: root, proof: [] } };
    for (const [isOnChain, expected] of [
      [true, [0, 1, 2]],
      [false, [0]],
    ] as const)
      assert.deepEqual(replay([...judged, { head: isOnChain }, claim, settled(7n, 1, 2)]).members(), [...expected]);
  });
});

describe("the roots of a set's heads", () => {
  it("are good while they are the newest, and for a time after", () => {
    const roots = new RootHistory();
    roots.add({ maskRoot: 1n, time: 10_000 });
    assert.isTrue(roots.accepts(1n, 0));
    assert.isTrue(roots.accepts(1n, 1_000_000), "it is the newest");
    roots.add({ maskRoot: 2n, time: 20_000 });
    assert.isTrue(roots.accepts(1n, 20_000));
    assert.isTrue(roots.accepts(1n, 20_000 + ROOT_GRACE_SECONDS - 1));
    assert.isFalse(roots.accepts(1n, 20_000 + ROOT_GRACE_SECONDS));
    assert.isTrue(roots.accepts(1n, 20_059, 60));
    assert.isFalse(roots.accepts(1n, 20_060, 60));
    assert.isTrue(roots.accepts(2n, 15_000), "a later head");
    assert.isFalse(roots.accepts(3n, 15_000));
  });

  it("are good again when a later head has the same root", () => {
    const roots = new RootHistory();
    for (const [maskRoot, time] of [
      [1n, 60],
      [2n, 120],
      [1n, 90_000],
    ] as const)
      roots.add({ maskRoot, time });
    assert.isTrue(roots.accepts(1n, 1_000_000));
  });
});
