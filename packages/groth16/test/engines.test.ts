import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_INPUT_JSON, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { prepareRemotely } from "../src/engine/second-thread.ts";
import { newClaimedGroups } from "../src/engine/share.ts";
import { Kernel } from "../src/fast/kernel.ts";
import { curveCode, scalarCode } from "../src/fast/kernels.ts";
import { compile, compilePrograms } from "../src/fast/programs.ts";
import { sumParts } from "../src/fast/prove.ts";
import { prepareKey } from "../src/fast/proving-key.ts";
import { parseZkey } from "../src/fast/zkey.ts";
import {
  type CircuitVerifier,
  createCircuitProver,
  createCircuitVerifier,
  encodeProof,
  fastEngine,
  type Groth16Error,
  type ProvingEngine,
  parseVerificationKey,
} from "../src/index.ts";
import { createWitnessCalculator } from "../src/witness/calculator.ts";
import { toyFiles, toyFilesCode } from "./support/toy-files.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 30 : 3;

const ENGINES: [string, () => ProvingEngine][] = [
  ["the fast engine", fastEngine],
  ["the fast engine on one thread", () => fastEngine({ singleThread: true })],
];

describe("engines", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let build: string;
  let verifier: CircuitVerifier;

  before(async () => {
    build = await buildToy(import.meta.dirname);
    verifier = createCircuitVerifier(await toyFiles(build, parseVerificationKey).verificationKey());
  });

  for (const [name, create] of ENGINES) {
    it(`${name}: proofs of different witnesses verify and differ`, async () => {
      const files = toyFiles(build, parseVerificationKey);
      const prover = createCircuitProver(files, { engine: create(), selfCheck: false });
      const seen = new Set<string>();
      for (let round = 0; round < ROUNDS; round++) {
        const label = String(round);
        const { proof, publicSignals } = await prover.prove({ ...TOY_INPUT, label });
        assert.deepEqual(publicSignals, ["210", label]);
        assert.isTrue(await verifier.verify(proof, publicSignals));
        assert.isFalse(await verifier.verify(proof, ["210", String(round + 1)]));
        for (const word of proof) seen.add(word);
      }
      assert.equal(seen.size, 8 * ROUNDS, "each proof has fresh blinding");
    });

    it(`${name}: makes several proofs concurrently with one key`, async () => {
      const files = toyFiles(build, parseVerificationKey);
      const prover = createCircuitProver(files, { engine: create() });
      const labels = ["1", "2", "3"];
      const proofs = await Promise.all(labels.map((label) => prover.prove({ ...TOY_INPUT, label })));
      for (const [index, { proof }] of proofs.entries()) {
        assert.isTrue(await verifier.verify(proof, ["210", labels[index]!]));
      }
    });

    it(`${name}: rejects a key whose delta is infinity, which would not blind a proof`, async () => {
      const engine = create();
      const [wasm, zkey] = ["toy.wasm", "toy.zkey"].map((file) => readFileSync(join(build, "toy", file)));
      const witness = await (await createWitnessCalculator("toy", wasm!)).calculate(TOY_INPUT);
      for (const part of ["delta1", "delta2"] as const) {
        const damaged = new Uint8Array(zkey!);
        parseZkey(damaged)[part].fill(0);
        const error = await expectRejected("PROVING_KEY_INVALID", () => engine.prove(damaged, witness));
        assert.include(error.message, "its delta is infinity");
      }
      const control = new Uint8Array(zkey!);
      assert.isTrue(await verifier.verify(encodeProof(await engine.prove(control, witness)), TOY_SIGNALS));
    });

    it(`${name}: rejects damaged keys and witnesses of another circuit, by code`, async () => {
      const engine = create();
      const [wasm, zkey] = ["toy.wasm", "toy.zkey"].map((file) => readFileSync(join(build, "toy", file)));
      const witness = await (await createWitnessCalculator("toy", wasm!)).calculate(TOY_INPUT);
      for (const damaged of [
        new Uint8Array(0),
        zkey!.subarray(0, 500),
        Buffer.from("no key at all, but long enough"),
      ]) {
        await expectRejected("PROVING_KEY_INVALID", () => engine.prove(new Uint8Array(damaged), witness));
      }
      await expectRejected("ENGINE_FAILED", () => engine.prove(new Uint8Array(zkey!), witness.subarray(32)));
    });
  }

  it("do not keep a process alive", () => {
    const entry = pathToFileURL(join(import.meta.dirname, "..", "src", "index.ts")).href;
    const script = `
      import { createCircuitProver, createCircuitVerifier, fastEngine, parseVerificationKey } from ${JSON.stringify(entry)};${toyFilesCode(build)}
      const input = { product: "210", label: "42", factors: ["2", "3", "5", "7"], secret: "1" };
      for (const engine of [fastEngine(), fastEngine({ singleThread: true })]) {
        const { proof, publicSignals } = await createCircuitProver(files, { engine }).prove(input);
        console.log(await createCircuitVerifier(key, engine).verify(proof, publicSignals));
      }`;
    const options = { encoding: "utf8", timeout: 300_000 } as const;
    const output = execFileSync(process.execPath, ["--input-type=module", "--no-warnings", "-e", script], options);
    assert.equal(output, "true\ntrue\n");
  });

  it("do not keep a process alive that has no key", () => {
    const entry = pathToFileURL(join(import.meta.dirname, "..", "src", "index.ts")).href;
    const script = `
      import { fastEngine } from ${JSON.stringify(entry)};
      fastEngine().start();
      console.log("started");`;
    const options = { encoding: "utf8", timeout: 20_000 } as const;
    const output = execFileSync(process.execPath, ["--input-type=module", "--no-warnings", "-e", script], options);
    assert.equal(output, "started\n");
  });

  it("prove and verify without loading another package, on the main thread and in a worker thread", () => {
    const entry = pathToFileURL(join(import.meta.dirname, "..", "dist", "index.js")).href;
    const program = (control: string) => `
      const { registerHooks } = await import("node:module");
      const loaded = [];
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
      ${control}
      const { createCircuitProver, createCircuitVerifier, parseVerificationKey } = await import(${JSON.stringify(entry)});${toyFilesCode(build)}
      const { proof, publicSignals } = await createCircuitProver(files).prove(${TOY_INPUT_JSON});
      const holds = await createCircuitVerifier(key).verify(proof, publicSignals);
      console.log(JSON.stringify({ holds, found: loaded.filter((url) => url.includes("/node_modules/")).length }));`;
    const run = (script: string) => {
      const options = { encoding: "utf8", timeout: 300_000, cwd: import.meta.dirname } as const;
      const args = ["--input-type=module", "--no-warnings", "-e", script];
      return JSON.parse(execFileSync(process.execPath, args, options)) as { holds: boolean; found: number };
    };
    assert.deepEqual(run(program("")), { holds: true, found: 0 });
    const inWorker = `
      import { Worker } from "node:worker_threads";
      new Worker(new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(program(""))})));`;
    assert.deepEqual(run(inWorker), { holds: true, found: 0 });
    // Control: the hook sees other packages.
    assert.isAbove(run(program('await import("chai");')).found, 0);
  });

  it("prove the same without relaxed SIMD, and say by code that they need SIMD", () => {
    const run = (entry: string, validate: string): unknown => {
      const script = `
        const { validate } = WebAssembly;
        let refused = 0;
        WebAssembly.validate = ${validate};
        const { createCircuitProver, createCircuitVerifier, parseVerificationKey } = await import(${JSON.stringify(entry)});${toyFilesCode(build)}
        const found = [];
        for (const label of ["42", "43"]) {
          const made = await createCircuitProver(files).prove({ ...${TOY_INPUT_JSON}, label }).catch(({ code }) => code);
          found.push(made.proof ? await createCircuitVerifier(key).verify(made.proof, made.publicSignals) : made);
        }
        console.log(JSON.stringify({ found, refused: refused > 0 }));`;
      const args = ["--input-type=module", "--no-warnings", "-e", script];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", timeout: 120_000 }));
    };
    // f64x2.relaxed_madd is fd 87 02.
    const withoutRelaxed = `(bytes) => {
      const isRelaxed = Buffer.from(bytes).includes(Buffer.from("fd8702", "hex"));
      if (isRelaxed) refused++;
      return !isRelaxed && validate(bytes);
    }`;
    const entries = ["src/index.ts", "dist/index.js"].map(
      (file) => pathToFileURL(join(import.meta.dirname, "..", file)).href,
    );
    for (const entry of entries) {
      assert.deepEqual(run(entry, withoutRelaxed), { found: [true, true], refused: true });
      const unsupported = ["ENGINE_UNSUPPORTED", "ENGINE_UNSUPPORTED"];
      assert.deepEqual(run(entry, "() => { refused++; return false; }"), { found: unsupported, refused: true });
    }
  });

  it("compile their kernels again after that failed", () => {
    const entry = pathToFileURL(join(import.meta.dirname, "..", "src", "index.ts")).href;
    const script = `
      const { Module } = WebAssembly;
      const { createCircuitProver, parseVerificationKey } = await import(${JSON.stringify(entry)});${toyFilesCode(build)}
      const prover = createCircuitProver(files);
      const prove = () => prover.prove(${TOY_INPUT_JSON}).then(({ publicSignals }) => publicSignals, String);
      const found = [];
      // The kernels fail, and then also the small module that asks for fused multiply-add.
      for (const limit of [4096, 0]) {
        WebAssembly.Module = class {
          constructor(bytes) {
            if (bytes.byteLength > limit) throw new Error("no memory for code");
            return new Module(bytes);
          }
        };
        found.push(await prove());
      }
      WebAssembly.Module = Module;
      console.log(JSON.stringify([...found, await prove()]));`;
    const args = ["--input-type=module", "--no-warnings", "-e", script];
    const output = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
    assert.deepEqual(JSON.parse(output), ["Error: no memory for code", "Error: no memory for code", TOY_SIGNALS]);
  });

  it("report only a lack of memory as a circuit that is too large", async () => {
    const zkey = new Uint8Array(readFileSync(join(build, "toy", "toy.zkey")));
    const witness = new Uint8Array(32 * parseZkey(zkey).variables);
    const engine = fastEngine({ singleThread: true });
    await engine.warm?.(zkey);
    const failure = () => engine.prove(zkey, witness).catch((error: unknown) => error);
    const { allocate, call } = Kernel.prototype;
    try {
      Kernel.prototype.allocate = function (this: Kernel) {
        return allocate.call(this, 2 ** 31);
      };
      assert.equal(((await failure()) as Groth16Error).code, "CIRCUIT_TOO_LARGE");
      Kernel.prototype.allocate = allocate;
      Kernel.prototype.call = function endless(this: Kernel, ...args): number {
        return 1 + endless.call(this, ...args);
      };
      const error = await failure();
      assert.instanceOf(error, RangeError, "the stack is full");
      assert.notProperty(error, "code");
    } finally {
      Object.assign(Kernel.prototype, { allocate, call });
    }
  });

  it("give the same sums with and without fused multiply-add", async () => {
    const zkey = parseZkey(new Uint8Array(readFileSync(join(build, "toy", "toy.zkey"))));
    const parts = ["a", "b1", "b2", "c", "h"] as const;
    const [fused, plain] = await Promise.all(
      [true, false].map(async (isFused) => prepareKey(zkey, parts, await compile(isFused))),
    );
    for (let round = 0; round < ROUNDS; round++) {
      const witness = Uint8Array.from({ length: 32 * zkey.variables }, (_, byte) =>
        byte % 32 === 31 ? 0 : Math.random() * 256,
      );
      assert.deepEqual([...sumParts(plain!, witness, parts)], [...sumParts(fused!, witness, parts)]);
    }
  });

  it("prepare the key before the witness is computed, and only the proof reports that it failed", async () => {
    const files = toyFiles(build, parseVerificationKey);
    const calls: string[] = [];
    const recorded = (fails: boolean): ProvingEngine => {
      const engine = fastEngine({ singleThread: true });
      const refuse = async (): Promise<never> => Promise.reject(new Error("no key"));
      return {
        ...engine,
        start: () => void calls.push("start"),
        warm: async (zkey) => {
          calls.push("warm");
          return fails ? refuse() : engine.warm!(zkey);
        },
        rehearse: async (zkey) => {
          calls.push("rehearse");
          return engine.rehearse!(zkey);
        },
        prove: async (zkey, witness) => {
          calls.push("prove");
          return fails ? refuse() : engine.prove(zkey, witness);
        },
      };
    };
    const onProgress = (stage: string) => void calls.push(stage);
    await createCircuitProver(files, { engine: recorded(false) }).prove(TOY_INPUT, { onProgress });
    assert.deepEqual(calls, ["artifacts", "start", "warm", "witness", "proof", "prove", "check", "done"]);
    calls.length = 0;
    await createCircuitProver(files, { engine: recorded(false) }).warm();
    assert.deepEqual(calls, ["start", "warm", "warm", "rehearse"]);
    calls.length = 0;
    await createCircuitProver(files, { engine: recorded(false) }).load();
    assert.deepEqual(calls, ["start", "warm", "warm"], "loading does nothing that a proof does not need");
    const refused = await createCircuitProver(files, { engine: recorded(true) })
      .load()
      .catch((error: unknown) => error);
    assert.equal((refused as Error).message, "no key");
    const failure = await createCircuitProver(files, { engine: recorded(true) })
      .prove(TOY_INPUT)
      .catch((error: unknown) => error);
    assert.equal((failure as Error).message, "no key");
    // A rejection that nobody handles would end the process before the next turn.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("still prove after a key that the second thread cannot use", async () => {
    const zkey = new Uint8Array(readFileSync(join(build, "toy", "toy.zkey")));
    const wasm = readFileSync(join(build, "toy", "toy.wasm"));
    const witness = await (await createWitnessCalculator("toy", wasm)).calculate(TOY_INPUT);
    const failed = prepareRemotely(zkey.slice(0, 600), ["h"]);
    for (const failure of [failed.ready, failed.sum(witness, ["h"], newClaimedGroups())]) {
      assert.match(String(await failure.catch((error: unknown) => error)), /proving key is not usable/);
    }
    // The other thread is asked for sums before its key is ready.
    const remote = prepareRemotely(zkey, ["b2", "h"]);
    const sums = await remote.sum(witness, ["a", "b2", "h"], newClaimedGroups());
    assert.deepEqual(
      sums.map((group) => Object.keys(group)),
      [["h"], ["b2"]],
    );
    const here = await prepareKey(parseZkey(zkey), ["b2", "h"], await compilePrograms());
    assert.deepEqual(sums, [...sumParts(here, witness, ["b2", "h"])]);
    await remote.ready;
  });

  it("prove again after their second thread has ended, with every key that was prepared on it", () => {
    const entry = pathToFileURL(join(import.meta.dirname, "..", "src", "index.ts")).href;
    const secondThread = new URL("./engine/second-thread.ts", entry).href;
    const script = `
      import { createCircuitProver, createCircuitVerifier, parseVerificationKey } from ${JSON.stringify(entry)};
      const workers = [];
      process.on("worker", (worker) => workers.push(worker));
${toyFilesCode(build)}
      // Each has its own bytes of the key.
      const provers = [createCircuitProver(files), createCircuitProver(files)];
      const verifier = createCircuitVerifier(key);
      const round = async () => {
        const found = [];
        for (const prover of provers) {
          const { proof, publicSignals } = await prover.prove(${TOY_INPUT_JSON});
          found.push(await verifier.verify(proof, publicSignals));
        }
        return found;
      };
      const before = await round();
      const { prepareRemotely } = await import(${JSON.stringify(secondThread)});
      const remote = prepareRemotely(await files.zkey(), ["h"]);
      await remote.ready;
      await workers[0].terminate();
      const late = await remote.sum(new Uint8Array(32), ["h"], new Int32Array(new SharedArrayBuffer(4))).catch(String);
      console.log(JSON.stringify({ before, late, after: await round(), workers: workers.length }));`;
    const args = ["--input-type=module", "--no-warnings", "-e", script];
    const output = execFileSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
    assert.deepEqual(JSON.parse(output), {
      before: [true, true],
      late: "Error: the worker ended",
      after: [true, true],
      workers: 2,
    });
  });

  it("give the second thread a key in shared memory as it is, and a copy of any other", async () => {
    const key = readFileSync(join(build, "toy", "toy.zkey"));
    const shared = new Uint8Array(new SharedArrayBuffer(key.byteLength));
    shared.set(key);
    const sent: Uint8Array[] = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (this: Worker, message: { prepare?: { zkey: Uint8Array } }) {
      if (message.prepare !== undefined) sent.push(message.prepare.zkey);
      postMessage.call(this, message);
    };
    try {
      for (const zkey of [shared, new Uint8Array(key)]) await fastEngine().warm?.(zkey);
    } finally {
      Worker.prototype.postMessage = postMessage;
    }
    assert.equal(sent[0], shared);
    assert.ok(sent[1]?.buffer instanceof SharedArrayBuffer);
    assert.deepEqual(Buffer.from(sent[1]), key);
  });

  it("wipe the kernels' memory after the sums, and if only the first of them are taken", async () => {
    const zkey = new Uint8Array(readFileSync(join(build, "toy", "toy.zkey")));
    const wasm = readFileSync(join(build, "toy", "toy.wasm"));
    const witness = await (await createWitnessCalculator("toy", wasm)).calculate(TOY_INPUT);
    const key = await prepareKey(parseZkey(zkey), ["a", "b2", "h"], await compilePrograms());
    const kernels = [key.curve, key.quotient!.kernel];
    const codes = [await curveCode(), await scalarCode()];
    // Preparing the key leaves parts of it after the mark, which are not secret.
    const prepared = kernels.map((kernel) => new Uint8Array(kernel.buffer).slice());
    const marks = kernels.map((kernel) => kernel.mark());
    /** Whether a kernel's memory has bytes that are neither zero nor as before the sums. */
    const areUsed = (): boolean[] =>
      kernels.map((kernel, index) => {
        const { constants } = codes[index]!;
        // Functions keep numbers among the constants, too.
        const isConstant = Buffer.from(constants).equals(kernel.bytes(0, constants.byteLength));
        const [mark, before] = [marks[index]!, prepared[index]!];
        const rest = new Uint8Array(kernel.buffer, mark);
        return !isConstant || rest.some((byte, offset) => byte !== 0 && byte !== before[mark + offset]);
      });
    for (const _ of sumParts(key, witness, ["a", "b2", "h"])) break;
    assert.deepEqual(areUsed(), [false, false]);
    const sums = sumParts(key, witness, ["a", "b2", "h"]);
    sums.next();
    assert.isTrue(areUsed()[0], "the test sees what is in memory");
    assert.isFalse(sums.next().done);
    assert.isTrue(sums.next().done);
    assert.deepEqual(areUsed(), [false, false]);
  });

  it("have the memory for sums in G1 since the key was prepared", async () => {
    const zkey = new Uint8Array(readFileSync(join(build, "toy", "toy.zkey")));
    const wasm = readFileSync(join(build, "toy", "toy.wasm"));
    const witness = await (await createWitnessCalculator("toy", wasm)).calculate(TOY_INPUT);
    const key = await prepareKey(parseZkey(zkey), ["a", "b1", "c"], await compilePrograms());
    const { byteLength } = key.curve.buffer;
    const [first = {}] = [...sumParts(key, witness, ["a", "b1", "c"])];
    assert.hasAllKeys(first, ["a", "b1", "c"]);
    assert.equal(key.curve.buffer.byteLength, byteLength);
  });

  it("prove on one thread where workers are forbidden or cannot start", () => {
    const entry = pathToFileURL(join(import.meta.dirname, "..", "src", "index.ts")).href;
    const run = (Worker: string): unknown => {
      const script = `
        import * as threads from "node:worker_threads";
        const { getBuiltinModule } = process;
        let started = 0;
        const Worker = ${Worker};
        process.getBuiltinModule = (name) => name === "node:worker_threads" ? { ...threads, Worker } : getBuiltinModule(name);
        const { createCircuitProver, createCircuitVerifier, parseVerificationKey } = await import(${JSON.stringify(entry)});${toyFilesCode(build)}
        const prover = createCircuitProver(files);
        const found = [];
        for (let round = 0; round < 2; round++) {
          if (round === 1) await prover.warm();
          const { proof, publicSignals } = await prover.prove(${TOY_INPUT_JSON});
          found.push(await createCircuitVerifier(key).verify(proof, publicSignals));
        }
        console.log(JSON.stringify({ found, started: started > 0 }));`;
      const args = ["--input-type=module", "--no-warnings", "-e", script];
      return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 }));
    };
    const forbidden = "class { constructor() { started++; throw new Error('no workers here'); } }";
    assert.deepEqual(run(forbidden), { found: [true, true], started: true });
    const missing = `class extends threads.Worker {
      constructor(url, options) { super(new URL("./no-such-file.js", url), options); started++; }
    }`;
    assert.deepEqual(run(missing), { found: [true, true], started: true });
  });

  it("prove the same after warming up and after closing", async () => {
    const files = toyFiles(build, parseVerificationKey);
    for (const engine of [fastEngine(), fastEngine({ singleThread: true })]) {
      const prover = createCircuitProver(files, { engine });
      await prover.warm();
      for (let round = 0; round < 2; round++) {
        const { proof, publicSignals } = await prover.prove(TOY_INPUT);
        assert.isTrue(await verifier.verify(proof, publicSignals));
        prover.close();
      }
    }
  });
});
