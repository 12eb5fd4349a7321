import type { PoolEvent } from "@sotto/chain";
import { expectCode } from "@sotto/test-kit/rejection";
import { assert } from "chai";
import {
  checkEvidence,
  decodeEvidence,
  type EvidenceChain,
  type EvidenceCheck,
  encodeEvidence,
  MaskTree,
  nextHead,
  type OriginEvidence,
  type OriginHead,
  type OriginSet,
  ROOT_GRACE_SECONDS,
  type SignedHead,
} from "../../src/index.ts";
import { MemoryCurator } from "../support/memory-curator.ts";

const { curator, secret } = new MemoryCurator({ chain: undefined as never, pool: "" });
const other = new MemoryCurator({ chain: undefined as never, pool: "" });
const hash = (byte: string): `0x${string}` => `0x${byte.repeat(32)}`;
const pool = `0x${"90".repeat(20)}` as const;
const set = { chainId: 31337, pool, curator, name: "clean" } as OriginSet;
const START = 1_800_000_000;

/** The heads of a set that gets a leaf with each head. */
function heads(count: number, of: OriginSet = set, key = secret): SignedHead[] {
  const mask = new MaskTree((leaf) => BigInt(leaf + 1));
  const signed: SignedHead[] = [];
  for (let i = 0; i < count; i += 1) {
    mask.set(i, true);
    const place = {
      block: i,
      blockHash: hash("aa"),
      leaves: count,
      entries: i,
      claims: 0,
      log: hash("bb"),
      policy: hash("cc"),
    };
    const facts = { ...of, ...place, time: START + 7_200 * i, blockTime: START + 7_200 * i };
    signed.push(nextHead(mask, facts, signed.at(-1)?.head, key).signed);
  }
  return signed;
}

const [first, second, third] = heads(3) as [SignedHead, SignedHead, SignedHead];
const proof = Array.from({ length: 8 }, (_, i) => String(i + 1));
const note = (nullifier: bigint, head: SignedHead, next?: SignedHead) => ({
  claim: { nullifier, maskRoot: head.head.maskRoot, proof },
  head,
  next,
});
const time = second.head.time + 100;
const evidence: OriginEvidence = {
  set,
  transaction: hash("dd"),
  block: 7,
  logIndex: 2,
  time,
  notes: [note(5n, second, third), note(6n, second)],
};
const event = {
  type: "withdrawn",
  transactionHash: hash("dd"),
  blockNumber: 7,
  logIndex: 2,
  timestamp: time,
  nullifiers: [6n, 5n, 0n, 0n, 0n, 0n, 0n, 0n],
} as unknown as PoolEvent;

describe("evidence of an origin", () => {
  const problems = (changes: Partial<OriginEvidence> = {}, check: Partial<EvidenceCheck> = {}): Promise<string[]> =>
    checkEvidence({ ...evidence, ...changes }, { set, verify: async () => true, chain: undefined, ...check });
  const expectProblem = async (expected: RegExp, ...args: Parameters<typeof problems>) => {
    const found = await problems(...args);
    assert.lengthOf(found, 1, found.join("; "));
    assert.match(found[0]!, expected);
  };

  it("is right offline and against the chain, and is read as it was written", async () => {
    const read = decodeEvidence(encodeEvidence(evidence));
    assert.deepEqual(read, evidence);
    assert.deepEqual(await problems(read), []);
    assert.deepEqual(await problems(read, { chain: chainOf(event) }), []);
  });

  it("is wrong for another set, even if it names the right one", async () => {
    const [head] = heads(1, { ...set, curator: other.curator } as OriginSet, other.secret) as [SignedHead];
    await expectProblem(/another set/u, { notes: [note(5n, head)], time: START });
    const renamed = heads(1, { ...set, name: "dirty" })[0]!;
    await expectProblem(/another set/u, { notes: [note(5n, renamed)], time: START });
    const found = await problems({}, { set: { ...set, name: "dirty" } });
    assert.match(found[0]!, /set/u);
  });

  it("is wrong with another root, a wrong proof, or one note twice", async () => {
    await expectProblem(/another root/u, { notes: [{ ...note(5n, second), head: third }] });
    await expectProblem(/note 2: its proof/u, {}, { verify: async ({ nullifier }) => nullifier === 5n });
    await expectProblem(/twice/u, { notes: [note(5n, second), note(5n, second)] });
  });

  it("is wrong if the root was replaced before the note was spent, or nothing shows that it was not", async () => {
    const until = third.head.time + ROOT_GRACE_SECONDS;
    const notes = [note(5n, second, third)];
    assert.deepEqual(await problems({ notes, time: until - 1 }), []);
    await expectProblem(/replaced/u, { notes, time: until });
    const alone = second.head.time + ROOT_GRACE_SECONDS;
    assert.deepEqual(await problems({ notes: [note(5n, second)], time: alone - 1 }), []);
    await expectProblem(/replaced/u, { notes: [note(5n, second)], time: alone });
    await expectProblem(/does not follow/u, { notes: [note(5n, first, third)], time: until });
    assert.deepEqual(await problems({ notes: [note(5n, third)], time: START }), [], "a later head");
  });

  /** The chain with these events, and the blocks of all heads. */
  const chainOf = (...events: object[]): EvidenceChain => ({
    events: events as PoolEvent[],
    block: async (number) => ({ hash: hash("aa"), timestamp: START + 7_200 * number }),
  });

  it("is wrong if the chain has another transaction, event, other notes or another time", async () => {
    const withEvent = (change: object) => ({ chain: chainOf({ ...event, ...change }) });
    await expectProblem(/did not spend/u, {}, { chain: chainOf() });
    await expectProblem(/did not spend/u, {}, withEvent({ transactionHash: hash("de") }));
    await expectProblem(/did not spend/u, {}, withEvent({ blockNumber: 8 }));
    await expectProblem(/did not spend/u, {}, withEvent({ logIndex: 3 }));
    await expectProblem(/did not spend/u, {}, withEvent({ nullifiers: [5n, 6n, 7n] }));
    await expectProblem(/did not spend/u, {}, withEvent({ nullifiers: [5n] }));
    await expectProblem(/did not spend/u, {}, withEvent({ type: "settled", nullifier: 5n }));
    await expectProblem(/has the time/u, {}, withEvent({ timestamp: time + 1 }));
  });

  it("is wrong if the block of a head is not on the chain, or has another time", async () => {
    const chain = chainOf(event);
    for (const other of [
      undefined,
      { hash: hash("ab"), timestamp: START },
      { hash: hash("aa"), timestamp: START + 1 },
    ]) {
      const found = await problems({}, { chain: { ...chain, block: async () => other } });
      assert.lengthOf(found, 2);
      for (const problem of found) assert.match(problem, /block of head/u);
    }
  });

  it("is wrong if a head is not signed", async () => {
    const forged = { ...second, signature: third.signature };
    await expectProblem(/not signed/u, { notes: [note(5n, forged)] });
    await expectProblem(/does not follow/u, { notes: [note(5n, second, { ...third, signature: second.signature })] });
  });

  it("is refused if it is malformed, cut or too large", () => {
    const text = encodeEvidence(evidence);
    const value = JSON.parse(text);
    for (const wrong of ["", "{", "null", "[]", text.slice(0, -9), `${text}${" ".repeat(70_000)}`])
      expectCode("INVALID_ARGUMENT", () => decodeEvidence(wrong));
    const head = value.notes[0].head as Record<keyof OriginHead, unknown>;
    for (const change of [
      { format: "sotto origin evidence 2" },
      { set: {} },
      { transaction: "0x12" },
      { block: -1 },
      { logIndex: -1 },
      { time: 0 },
      { time: 1.5 },
      { notes: [] },
      { notes: Array.from({ length: 9 }, () => value.notes[0]) },
      { notes: [null] },
      { notes: [{ ...value.notes[0], head: { ...head, leaves: 1 } }] },
      { notes: [{ ...value.notes[0], next: null }] },
    ])
      expectCode("INVALID_ARGUMENT", () => decodeEvidence(JSON.stringify({ ...value, ...change })));
  });
});
