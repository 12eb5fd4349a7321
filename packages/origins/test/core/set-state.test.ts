import type { PoolEvent } from "@sotto/chain";
import { assert } from "chai";
import { type LogEntry, ROOT_GRACE_SECONDS, RootHistory, SetState } from "../../src/index.ts";

let count = 0;
const place = (blockNumber: number, timestamp = 1_000_000 + 12 * blockNumber) => ({
  blockNumber,
  blockHash: `0x${blockNumber.toString(16).padStart(64, "0")}`,
  transactionHash: `0x${(count++).toString(16).padStart(64, "0")}`,
  logIndex: 0,
  timestamp,
});
const deposited = (leafIndex: number, block: number): PoolEvent => ({
  ...place(block),
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
  time = 1_000_020;
  /** Leaves that the next heads cover. */
  leaves = 0;

  head(after = 60): bigint {
    this.time += after;
    const maskRoot = this.state.mask.root;
    this.state.roots.add({ maskRoot, time: this.time, leaves: this.leaves });
    return maskRoot;
  }

  log(...entries: LogEntry[]): void {
    for (const entry of entries) {
      assert.isUndefined(this.state.problemOf(entry), JSON.stringify(entry.type));
      this.state.apply(entry);
    }
  }

  accept(...leaves: number[]): void {
    this.log(...leaves.map((leaf): LogEntry => ({ type: "accept", leaf })));
  }

  claim(nullifier: bigint, maskRoot: bigint): void {
    this.log({ type: "claim", claim: { nullifier, maskRoot, proof: [] } });
  }

  /** The leaves in the set below `end`. */
  members(end = 20): number[] {
    return Array.from({ length: end }, (_, leaf) => leaf).filter((leaf) => this.state.mask.has(leaf));
  }
}

describe("a set", () => {
  it("has accepted deposits, until they are refused, and nothing that was not judged", () => {
    const story = new Story();
    story.state.addEvents([deposited(0, 1), deposited(1, 1), deposited(2, 2)]);
    assert.deepEqual(story.members(), []);
    story.accept(0, 2);
    assert.deepEqual(story.members(), [0, 2]);
    story.log({ type: "refuse", leaf: 2 }, { type: "refuse", leaf: 1 });
    assert.deepEqual(story.members(), [0]);
    story.accept(2);
    assert.deepEqual(story.members(), [0, 2]);
    assert.equal(story.state.problemOf({ type: "accept", leaf: 2 }), "SAME_JUDGEMENT");
    assert.equal(story.state.problemOf({ type: "accept", leaf: 3 }), "NOT_A_DEPOSIT");
  });

  it("does not accept what a payment made by a judgement", () => {
    const story = new Story();
    story.state.addEvents([deposited(0, 1), settled(7n, 1, 2)]);
    for (const leaf of [1, 2]) assert.equal(story.state.problemOf({ type: "accept", leaf }), "NOT_A_DEPOSIT");
  });

  it("gets both outputs of a payment with its claim, before or after the payment", () => {
    for (const first of ["claim", "payment"] as const) {
      const story = new Story();
      story.state.addEvents([deposited(0, 1)]);
      story.accept(0);
      const root = story.head();
      if (first === "claim") story.claim(7n, root);
      story.state.addEvents([settled(7n, 1, 2)]);
      if (first === "payment") {
        assert.deepEqual(story.members(), [0]);
        story.claim(7n, root);
      }
      assert.deepEqual(story.members(), [0, 1, 2]);
      assert.equal(
        story.state.problemOf({ type: "claim", claim: { nullifier: 7n, maskRoot: root, proof: [] } }),
        "CLAIMED",
      );
    }
  });

  it("gets the output of a merge with the last of its claims", () => {
    const story = new Story();
    story.state.addEvents([deposited(0, 1), deposited(1, 1), withdrawn([7n, 8n, 9n], 2, 2)]);
    story.accept(0, 1);
    const root = story.head();
    story.claim(8n, root);
    story.claim(7n, root);
    assert.deepEqual(story.members(), [0, 1]);
    story.claim(9n, root);
    assert.deepEqual(story.members(), [0, 1, 2]);
  });

  it("gets nothing by the claims of a withdrawal without an output", () => {
    const story = new Story();
    story.state.addEvents([deposited(0, 1), withdrawn([7n], undefined, 2)]);
    story.accept(0);
    story.claim(7n, story.head());
    assert.deepEqual(story.members(), [0]);
  });

  it("refuses a claim with a root that no head has", () => {
    const story = new Story();
    story.state.addEvents([deposited(0, 1)]);
    story.head();
    story.accept(0);
    const unpublished = story.state.mask.root;
    const claim = { nullifier: 7n, maskRoot: unpublished, proof: [] };
    assert.equal(story.state.problemOf({ type: "claim", claim }), "ROOT_UNKNOWN");
    story.head();
    assert.isUndefined(story.state.problemOf({ type: "claim", claim }));
  });

  it("does not inherit over a root that a refusal replaced more than an hour before the payment", () => {
    for (const [late, expected] of [
      [0, [1, 2]],
      [1, []],
    ] as const) {
      const story = new Story();
      story.state.addEvents([deposited(0, 1)]);
      story.accept(0);
      const root = story.head();
      story.log({ type: "refuse", leaf: 0 });
      story.head();
      const replaced = story.time;
      story.claim(7n, root);
      story.state.addEvents([settled(7n, 1, 2, replaced + ROOT_GRACE_SECONDS - 1 + late)]);
      assert.deepEqual(story.members(), [...expected]);
    }
  });

  it("forgets the notes of blocks that a reorganization removed, and keeps claims", () => {
    const story = new Story();
    story.state.addEvents([deposited(0, 1), deposited(1, 2)]);
    story.accept(0, 1);
    const root = story.head();
    story.state.addEvents([settled(7n, 2, 3)]);
    story.claim(7n, root);
    assert.deepEqual(story.members(), [0, 1, 2, 3]);
    assert.equal(story.state.rollBack(1), 1);
    assert.deepEqual(story.members(), [0]);
    assert.isFalse(story.state.isSpent(7n));
    // The payment is mined again, before another deposit: its claim still counts.
    story.state.addEvents([settled(7n, 1, 2), deposited(3, 3)]);
    assert.deepEqual(story.members(), [0, 1, 2]);
    // A judgement of a leaf that is another deposit now ends with the entry.
    story.log({ type: "reorg", leaf: 1 });
    assert.isUndefined(story.state.judgement(1));
    assert.isTrue(story.state.judgement(0));
    assert.deepEqual(story.members(), [0, 1, 2]);
    assert.equal(story.state.rollBack(99), undefined);
  });

  it("does not keep the judgement of a leaf whose deposit was replaced", () => {
    const story = new Story();
    story.state.addEvents([deposited(0, 1), deposited(1, 2)]);
    story.accept(0, 1);
    story.state.rollBack(1);
    story.state.addEvents([deposited(1, 2)]);
    assert.deepEqual(story.members(), [0], "nobody judged the new deposit");
    story.log({ type: "reorg", leaf: 1 });
    story.accept(1);
    assert.deepEqual(story.members(), [0, 1]);
  });

  it("does not inherit over a root that covers a leaf which a reorganization replaced", () => {
    for (const [leaf, expected] of [
      [0, []],
      [1, [1, 2]],
    ] as const) {
      const story = new Story();
      story.state.addEvents([deposited(0, 1)]);
      story.accept(0);
      story.leaves = 1;
      const root = story.head();
      story.claim(7n, root);
      // The first leaf may be another account's deposit with the same amount and owner tag.
      story.log({ type: "reorg", leaf });
      story.state.addEvents([settled(7n, 1, 2)]);
      assert.deepEqual(
        story.members().filter((member) => member > 0),
        [...expected],
      );
    }
  });

  it("has the same mask after a replay of its log, in the order of its heads", () => {
    const story = new Story();
    const steps: (PoolEvent | LogEntry | "head")[] = [];
    const replayed = new Story();
    const roots: bigint[] = [];
    const event = (value: PoolEvent) => {
      steps.push(value);
      story.state.addEvents([value]);
    };
    const entry = (value: LogEntry) => {
      steps.push(value);
      story.log(value);
    };
    for (let i = 0; i < 6; i += 1) event(deposited(i, i + 1));
    for (const leaf of [0, 1, 2, 4]) entry({ type: "accept", leaf });
    roots.push(story.head());
    steps.push("head");
    event(settled(11n, 6, 8));
    entry({ type: "claim", claim: { nullifier: 11n, maskRoot: roots[0]!, proof: [] } });
    roots.push(story.head());
    steps.push("head");
    event(withdrawn([12n, 13n], 8, 9));
    entry({ type: "claim", claim: { nullifier: 12n, maskRoot: roots[1]!, proof: [] } });
    entry({ type: "refuse", leaf: 4 });
    entry({ type: "claim", claim: { nullifier: 13n, maskRoot: roots[0]!, proof: [] } });
    roots.push(story.head());
    for (const step of [...steps, "head" as const])
      if (step === "head") assert.equal(replayed.head(), roots.shift());
      else if (["accept", "refuse", "claim", "reorg"].includes(step.type)) replayed.log(step as LogEntry);
      else replayed.state.addEvents([step as PoolEvent]);
    assert.deepEqual(replayed.members(), [0, 1, 2, 6, 7, 8]);
  });
});

describe("the roots of a set's heads", () => {
  it("are good while they are the newest, and for a time after", () => {
    const roots = new RootHistory();
    roots.add({ maskRoot: 1n, time: 10_000, leaves: 0 });
    assert.isTrue(roots.accepts(1n, 0));
    assert.isTrue(roots.accepts(1n, 1_000_000), "it is the newest");
    roots.add({ maskRoot: 2n, time: 20_000, leaves: 0 });
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
      roots.add({ maskRoot, time, leaves: 0 });
    assert.isTrue(roots.accepts(1n, 1_000_000));
  });
});
