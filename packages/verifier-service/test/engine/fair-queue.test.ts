import { assert } from "chai";
import { BATCH_SIZE } from "../../src/engine/batch.ts";
import { Failures, MAX_NETWORKS } from "../../src/engine/failures.ts";
import { FairQueue } from "../../src/engine/fair-queue.ts";
import type { Job } from "../../src/engine/thread.ts";
import { claim, statement } from "./support/proofs.ts";

const ONE = statement(claim("payment"));
const job = (client: string, deaths = 0): Job => ({
  ...{ statement: ONE, client, deaths },
  resolve: () => assert.fail("the queue settles no job"),
  reject: () => assert.fail("the queue settles no job"),
});
const clientsOf = (jobs: readonly Job[]) => jobs.map(({ client }) => client).join("");

describe("the queue of proofs", () => {
  let now: number;
  let failures: Failures;
  let queue: FairQueue;
  beforeEach(() => {
    now = 1_000;
    failures = new Failures(() => now);
    queue = new FairQueue(failures, 40);
  });
  const add = (clients: string) => clientsOf([...clients].flatMap((client) => queue.add(job(client)) ?? []));
  /** Takes everything, in batches. */
  const batches = () => {
    const all: string[] = [];
    while (queue.length > 0) all.push(clientsOf(queue.take(1)));
    return all;
  };

  it("gives clients without failed proofs turns, one proof each", () => {
    add("aaaaabbc");
    add("d");
    assert.deepEqual(batches(), ["abcdabaaa"]);
  });

  it("continues with the next client in the next batch", () => {
    add("aaaabbbbcc");
    assert.deepEqual([clientsOf(queue.take(5)), clientsOf(queue.take(2)), ...batches()], ["ab", "cabc", "abab"]);
  });

  it("takes at most a batch, and an equal share for each idle worker", () => {
    add("a".repeat(40));
    assert.equal(queue.take(1).length, BATCH_SIZE);
    assert.equal(queue.take(4).length, 2);
    assert.deepEqual(batches(), ["a".repeat(6)]);
    assert.deepEqual(queue.take(1), []);
  });

  it("takes proofs of clients with failed proofs last, in small batches of their own", () => {
    add("xxyyyabab");
    failures.add("x");
    failures.add("y");
    assert.deepEqual(batches(), ["abab", "xy", "xy", "y"]);
  });

  it("takes proofs of clients with failed proofs after four batches of others, however many wait", () => {
    queue = new FairQueue(failures, 400);
    failures.add("x");
    add("xxx");
    add("a".repeat(12 * BATCH_SIZE));
    const whole = "a".repeat(BATCH_SIZE);
    const turn = [whole, whole, whole, whole];
    assert.deepEqual(batches(), [...turn, "xx", ...turn, "x", ...turn]);
  });

  it("forgets a client's failed proofs when it has had none for a while", () => {
    add("xaxa");
    failures.add("x");
    now += 299_999;
    assert.deepEqual(batches(), ["aa", "xx"]);
    add("xaxa");
    now += 1;
    assert.deepEqual(batches(), ["xaxa"]);
  });

  it("takes proofs whose worker died before all others, each alone", () => {
    add("ab");
    failures.add("x");
    for (const client of "xa") queue.putBack(job(client, 1));
    assert.equal(queue.length, 4);
    assert.deepEqual(batches(), ["a", "x", "ab"]);
  });

  it("refuses a client with failed proofs first when it is full, the one with the most proofs", () => {
    failures.add("x");
    failures.add("y");
    assert.equal(add("x".repeat(20) + "y".repeat(15) + "a".repeat(5)), "");
    assert.equal(add("a"), "x");
    assert.equal(add("b"), "x");
    assert.equal(add("y"), "x");
    assert.equal(add("x"), "x");
    assert.equal(add("a".repeat(33)), `${"x".repeat(2) + "yx".repeat(15)}y`);
    assert.equal(queue.length, 40);
    assert.equal(add("x"), "x");
    assert.equal(add("b"), "a");
  });

  it("refuses the client with the most proofs when it is full, if no client has failed proofs", () => {
    add(`${"a".repeat(38)}bb`);
    assert.equal(add("a"), "a");
    assert.equal(add("c"), "a");
    assert.equal(add("bb"), "aa");
    assert.equal(queue.length, 40);
  });

  it("returns all jobs when it is cleared", () => {
    add("aab");
    queue.putBack(job("c", 1));
    assert.equal(clientsOf(queue.clear()), "caab");
    assert.equal(queue.length, 0);
    add("a");
    assert.deepEqual(batches(), ["a"]);
  });
});

describe("the memory of failed proofs", () => {
  it("counts a network of many clients like quotas do", () => {
    const failures = new Failures(() => 0);
    const client = (a: number, b = a) => `64/${a},56/${b},48/0`;
    failures.add(client(1));
    assert.deepEqual(
      [client(1), client(2)].map((each) => failures.has(each)),
      [true, false],
    );
    failures.add(client(3, 2));
    assert.isFalse(failures.has(client(4, 2)));
    failures.add(client(5, 2));
    assert.isTrue(failures.has(client(4, 2)));
    assert.isFalse(failures.has(client(9)));
    failures.add(client(6));
    assert.isTrue(failures.has(client(9)));
    assert.isFalse(failures.has("192.0.2.1"));
  });

  it("has a limit, and forgets the network whose last failure is the oldest", () => {
    const failures = new Failures(() => 0);
    for (let i = 0; i < MAX_NETWORKS; i += 1) failures.add(String(i));
    failures.add("0");
    failures.add("new");
    assert.equal(failures.size, MAX_NETWORKS);
    assert.deepEqual(
      ["0", "1", "2", "new"].map((each) => failures.has(each)),
      [true, false, true, true],
    );
  });
});
