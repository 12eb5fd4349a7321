import { Worker } from "node:worker_threads";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { BATCH_SIZE } from "../../src/engine/batch.ts";
import { createVerifyEngine, type VerifyEngine, type VerifyEngineOptions } from "../../src/engine/index.ts";
import { type Claim, claim, claims, KEYS, tampered } from "./support/proofs.ts";

const worker = (file: string) => new URL(file, import.meta.url);
const OWN = worker("../../src/engine/worker.ts");
const DEADLY = worker("./support/deadly-worker.ts");
const BROKEN = worker("./support/broken-worker.ts");

describe("the engine's workers", function () {
  slow(this, "workers and proofs");
  const open: VerifyEngine[] = [];
  const started: Worker[] = [];
  /** @param files the script of each started worker, in order; the last one is used for all further workers */
  async function engineOf(files: readonly URL[], options: Partial<VerifyEngineOptions> = {}): Promise<VerifyEngine> {
    started.length = 0;
    const startWorker = (workerData: unknown) => {
      const file = files[Math.min(started.length, files.length - 1)]!;
      started.push(new Worker(file, { workerData }));
      return started.at(-1)!;
    };
    const engine = await createVerifyEngine({ verificationKeys: KEYS, workers: 1, startWorker, ...options });
    open.push(engine);
    return engine;
  }
  afterEach(() => Promise.all(open.splice(0).map((engine) => engine.close())));
  const verify = (engine: VerifyEngine, { circuit, proof, signals }: Claim, client = "client") =>
    engine.verify(circuit, proof, signals, client);
  /** Codes of the errors, or the results. */
  const settled = async (results: Promise<boolean>[]) =>
    (await Promise.allSettled(results)).map((result) =>
      result.status === "fulfilled" ? result.value : result.reason.code,
    );

  it("are replaced if they die, and their proofs are verified by others", async () => {
    const engine = await engineOf([OWN]);
    const all = claims(6).with(2, tampered(claim("payment")));
    const results = Promise.all(all.map((each) => verify(engine, each)));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await started[0]!.terminate();
    assert.deepEqual(await results, [true, true, false, true, true, true]);
    assert.equal(started.length, 2);
  });

  it("are replaced if they die idle", async () => {
    const engine = await engineOf([OWN]);
    await started[0]!.terminate();
    assert.isTrue(await verify(engine, claim("payment")));
    assert.equal(started.length, 2);
  });

  it("fail a proof only after two of them died while verifying it", async () => {
    // The first two workers end when they receive proofs: the batch of three, then its first proof alone.
    const engine = await engineOf([DEADLY, DEADLY, OWN]);
    const results = await Promise.allSettled(claims(3).map((each) => verify(engine, each)));
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 2);
    const [failed] = results.filter((result) => result.status === "rejected");
    assert.equal(failed!.reason.code, "ENGINE_FAILED");
    assert.equal(started.length, 3);
  });

  it("fail the engine's start if they cannot start", async () => {
    assert.equal((await rejection(engineOf([BROKEN]))).code, "ENGINE_FAILED");
  });

  it("fail waiting proofs while they cannot be restarted, and restart later", async () => {
    const engine = await engineOf([DEADLY, BROKEN, OWN]);
    assert.equal((await rejection(verify(engine, claim("payment")))).code, "ENGINE_FAILED");
    for (;;) {
      const error = await verify(engine, claim("payment")).then(
        (held) => assert.isTrue(held),
        (failure: { code?: string }) => failure,
      );
      if (error === undefined) break;
      assert.equal(error.code, "ENGINE_FAILED");
    }
    assert.equal(started.length, 3);
  });

  it("reject proofs beyond the queue limit, and recover", async () => {
    const engine = await engineOf([OWN], { maxQueue: 4 });
    assert.deepEqual(await settled(claims(8).map((each) => verify(engine, each))), [
      ...Array(4).fill(true),
      ...Array(4).fill("ENGINE_OVERLOADED"),
    ]);
    assert.isTrue(await verify(engine, claim("payment")));
  });

  const FLOOD = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
  const invalid = tampered(claim("payment"));
  /** Sends `count` invalid proofs of each client of the flood. @returns what each proof has settled with, in that order */
  function flood(engine: VerifyEngine, count: number) {
    const order: string[] = [];
    const results = FLOOD.flatMap((client) => Array.from({ length: count }, () => verify(engine, invalid, client)));
    for (const result of results)
      result.then(
        (valid) => order.push(valid ? "true" : "false"),
        (error: { code: string }) => order.push(error.code),
      );
    return { results, order };
  }

  it("verify an honest client's proof before the proofs of a flood, once one of these has failed", async () => {
    const engine = await engineOf([OWN]);
    await Promise.all(flood(engine, 1).results);
    const { results, order } = flood(engine, 40);
    // The worker has a batch of the flood, and the others wait.
    await results[0];
    const before = order.length;
    assert.isTrue(await verify(engine, claim("payment"), "honest"));
    // The batch that was running, and the next one if it started before this proof arrived.
    assert.isAtMost(order.length - before, 4);
    assert.deepEqual(await settled(results), Array(120).fill(false));
  });

  it("verify an honest client's proof in the first batch, although the flood has not failed yet", async () => {
    const engine = await engineOf([OWN]);
    const { order } = flood(engine, 40);
    assert.isTrue(await verify(engine, claim("payment"), "honest"));
    assert.isAtMost(order.length, BATCH_SIZE);
  });

  it("refuse the flood first if the queue is full", async () => {
    const engine = await engineOf([OWN], { maxQueue: 30 });
    await Promise.all(flood(engine, 1).results);
    const { results } = flood(engine, 10);
    const honest = claims(20).map((each) => verify(engine, each, "honest"));
    assert.deepEqual(await settled(honest), Array(20).fill(true));
    const codes = await settled(results);
    assert.equal(codes.filter((code) => code === "ENGINE_OVERLOADED").length, 20);
    assert.equal(codes.filter((code) => code === false).length, 10);
  });

  it("show what waits, whose networks sent invalid proofs, and what was refused", async () => {
    const engine = await engineOf([OWN], { maxQueue: 30 });
    const idle = { waiting: { trusted: 0, suspect: 0 }, verifying: 0, threads: 1, deaths: 0, maxWaiting: 30 };
    assert.deepEqual(engine.status, { ...idle, failedNetworks: 0, refused: 0 });
    await Promise.all(flood(engine, 1).results);
    assert.equal(engine.status.failedNetworks, 3);
    const { results } = flood(engine, 10);
    const honest = claims(20).map((each) => verify(engine, each, "honest"));
    assert.deepEqual(engine.status.waiting, { trusted: 20, suspect: 10 });
    await settled([...honest, ...results]);
    assert.deepEqual(engine.status, { ...idle, failedNetworks: 3, refused: 20 });
  });

  it("answer accepted proofs on close, and none afterwards", async () => {
    const engine = await engineOf([OWN], { workers: 2 });
    const accepted = claims(40).map((each) => verify(engine, each));
    const ended = started.map((each) => new Promise((resolve) => each.once("exit", resolve)));
    // Decoding is synchronous, so all proofs are queued before the engine closes.
    await new Promise((resolve) => setImmediate(resolve));
    const closing = engine.close();
    assert.equal((await rejection(verify(engine, claim("payment")))).code, "ENGINE_CLOSED");
    assert.deepEqual(await Promise.all(accepted), Array(40).fill(true));
    await Promise.all([closing, engine.close(), ...ended]);
    assert.equal((await rejection(verify(engine, claim("payment")))).code, "ENGINE_CLOSED");
  });

  it("end immediately if no proof is waiting", async () => {
    const engine = await engineOf([OWN]);
    await engine.close();
    await engine.close();
  });
});
