import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { anyRejection, expectRejected, rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_INPUT_JSON, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { twistPoint } from "@sotto/test-kit/twist-points";
import { withSnarkjs } from "@sotto/test-kit/with-snarkjs";
import { assert } from "chai";
import * as snarkjs from "snarkjs";
import { sharedCurve } from "../src/curve.ts";
import { parseZkey } from "../src/fast/zkey.ts";
import { type Groth16Proof, type Groth16Result, groth16, type ZKArtifact } from "../src/index.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";

describe("groth16 with snarkjs's API", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let wasm: string;
  let zkey: string;
  let vkey: Record<string, unknown>;
  let made: Groth16Result;
  let theirs: Groth16Result;
  let wtns: Uint8Array;

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    [wasm, zkey] = ["toy.wasm", "toy.zkey"].map((file) => join(build, "toy", file)) as [string, string];
    vkey = JSON.parse(readFileSync(join(build, "toy", "toy.vkey.json"), "utf8"));
    made = await groth16.fullProve(TOY_INPUT, wasm, zkey);
    await withSnarkjs(async () => {
      theirs = (await snarkjs.groth16.fullProve(TOY_INPUT as never, wasm, zkey)) as Groth16Result;
      const target = { type: "mem" } as { type: "mem"; data: Uint8Array };
      await snarkjs.wtns.calculate(TOY_INPUT as never, wasm, target as never);
      wtns = target.data.slice();
    });
  });

  it("returns proofs in snarkjs's format, and each verifies the other's", async () => {
    assert.deepEqual(made.publicSignals, TOY_SIGNALS);
    assert.deepEqual(made.publicSignals, theirs.publicSignals);
    const shape = ({ proof }: Groth16Result) =>
      JSON.stringify(proof, (_, value) => (/^\d{5,}$/.test(value) ? "n" : value));
    // Keys may be in another order.
    assert.deepEqual(JSON.parse(shape(made)), JSON.parse(shape(theirs)));
    for (const { proof, publicSignals } of [made, theirs]) {
      assert.isTrue(await groth16.verify(vkey, publicSignals, proof));
      assert.isFalse(await groth16.verify(vkey, ["211", "42"], proof));
      assert.isTrue(await withSnarkjs(() => snarkjs.groth16.verify(vkey, publicSignals, proof)));
    }
    assert.isTrue(await groth16.verify(JSON.stringify(vkey), made.publicSignals, made.proof));
  });

  it("takes files as paths, URLs, bytes and wrapped bytes", async () => {
    const bytes = [readFileSync(wasm), readFileSync(zkey)] as const;
    const server = createServer((request, response) => {
      if (request.url?.startsWith("/toy.wasm")) return response.end(bytes[0]);
      if (request.url?.startsWith("/toy.zkey")) return response.end(bytes[1]);
      return response.writeHead(404).end("<html>");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const kinds: ((name: "toy.wasm" | "toy.zkey", path: string, content: Uint8Array) => ZKArtifact)[] = [
      (_, path) => path,
      (_, path) => pathToFileURL(path),
      (_, path) => pathToFileURL(path).href,
      (_, path) => ({ type: "file", fileName: path }),
      (_, __, content) => content,
      (_, __, content) => new Uint8Array(content),
      (_, __, data) => ({ type: "mem", data }),
      (name) => `${origin}/${name}`,
      (name) => new URL(`${origin}/${name}`),
    ];
    try {
      for (const kind of kinds) {
        const files = [kind("toy.wasm", wasm, bytes[0]), kind("toy.zkey", zkey, bytes[1])] as const;
        const { proof, publicSignals } = await groth16.fullProve(TOY_INPUT, ...files);
        assert.isTrue(await groth16.verify(vkey, publicSignals, proof));
      }
      const missing = await expectRejected("CIRCUIT_FILE_UNREADABLE", () =>
        groth16.fullProve(TOY_INPUT, `${origin}/none?token=hidden`, zkey),
      );
      assert.match(missing.message, /witness generator .* answered 404/);
      assert.notInclude(missing.message, "hidden");
    } finally {
      server.close();
      server.closeAllConnections();
    }
    for (const file of ["/no/such/file", import.meta.dirname, { type: "bigMem" }, 5, null, undefined, {}])
      await expectRejected("CIRCUIT_FILE_UNREADABLE", () => groth16.fullProve(TOY_INPUT, wasm, file as never));
  });

  it("reads a path again after its file was replaced", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-replaced-"));
    const copy = join(folder, "toy.zkey");
    try {
      copyFileSync(zkey, copy);
      await groth16.fullProve(TOY_INPUT, wasm, copy);
      const damaged = readFileSync(zkey);
      parseZkey(damaged).delta1.fill(0);
      writeFileSync(copy, damaged);
      await expectRejected("PROVING_KEY_INVALID", () => groth16.fullProve(TOY_INPUT, wasm, copy));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("proves a witness of snarkjs's calculator", async () => {
    for (const witness of [wtns, { type: "mem", data: wtns } as const]) {
      const { proof, publicSignals } = await groth16.prove(zkey, witness);
      assert.deepEqual(publicSignals, TOY_SIGNALS);
      assert.isTrue(await groth16.verify(vkey, publicSignals, proof));
    }
  });

  it("refuses witness files that are damaged, of another size, not canonical or false", async () => {
    const start = wtns.byteLength - parseZkey(readFileSync(zkey)).variables * 32;
    const changed = (change: (file: Uint8Array) => void): Uint8Array => {
      const file = wtns.slice();
      change(file);
      return file;
    };
    const order = Uint8Array.from({ length: 32 }, (_, byte) => Number((r >> BigInt(8 * byte)) & 255n));
    const invalid = [
      new Uint8Array(0),
      wtns.subarray(0, 40),
      wtns.subarray(0, wtns.byteLength - 32),
      changed((file) => file.fill(0xff, wtns.byteLength - 32)),
      changed((file) => file.set(order, wtns.byteLength - 32)),
      changed((file) => file.fill(2, start, start + 1)),
      changed((file) => file.fill(0xff, 16, 24)),
      readFileSync(zkey),
    ];
    for (const file of invalid) await expectRejected("WITNESS_FILE_INVALID", () => groth16.prove(zkey, file));
    const untrue = changed((file) => file.set([211], start + 32));
    await expectRejected("PROOF_SELF_CHECK_FAILED", () => groth16.prove(zkey, untrue));
    const { proof, publicSignals } = await groth16.prove(zkey, untrue, { selfCheck: false });
    assert.equal(publicSignals[0], "211");
    assert.isFalse(await groth16.verify(vkey, publicSignals, proof), "snarkjs returns such a proof");
  });

  it("takes numbers, bigints, booleans, decimal and hexadecimal texts as inputs, and reduces them only if asked to", async () => {
    const minus = r - 1n;
    for (const label of [42, 42n, "42", "0x2a", "0X2A", "042", String(42n - r)]) {
      const { publicSignals } = await groth16.fullProve({ ...TOY_INPUT, label }, wasm, zkey);
      assert.deepEqual(publicSignals, TOY_SIGNALS);
    }
    for (const [label, expected] of [
      [true, "1"],
      [false, "0"],
      [-1, String(minus)],
      ["-0x1", String(minus)],
    ] as const)
      assert.equal((await groth16.fullProve({ ...TOY_INPUT, label }, wasm, zkey)).publicSignals[1], expected);
    for (const label of [r, r + 42n, -r, `0x${"f".repeat(64)}`]) {
      const error = await expectRejected("INPUT_INVALID", () => groth16.fullProve({ ...TOY_INPUT, label }, wasm, zkey));
      assert.match(error.message, /label.*reduceInputs/);
      const { publicSignals } = await groth16.fullProve({ ...TOY_INPUT, label }, wasm, zkey, { reduceInputs: true });
      assert.equal(publicSignals[1], String(((BigInt(label) % r) + r) % r));
    }
    for (const label of ["", " 42", "4.2", "1e3", 0.5, 2 ** 53, Number.NaN, null, undefined, {}, "x".repeat(2000)]) {
      const error = await expectRejected("INPUT_INVALID", () =>
        groth16.fullProve({ ...TOY_INPUT, label } as never, wasm, zkey),
      );
      assert.notInclude(error.message, "xxx");
    }
  });

  it("says false, and never throws, for proofs and signals that are not canonical or not valid", async () => {
    const { proof, publicSignals } = made;
    const { verify } = groth16;
    const [ax, ay] = proof.pi_a as [string, string];
    const outside = twistPoint();
    const wrong: unknown[] = [
      { ...proof, pi_a: [String(BigInt(ax) + q), ay, "1"] },
      { ...proof, pi_a: [ax, ay, "2"] },
      { ...proof, pi_a: [ax, ay] },
      { ...proof, pi_a: [`0${ax}`, ay, "1"] },
      { ...proof, pi_a: ["0", "0", "1"] },
      { ...proof, pi_a: ["1", "1", "1"] },
      { ...proof, pi_b: [outside.x.map(String), outside.y.map(String), ["1", "0"]] },
      { ...proof, pi_b: [[], [], []] },
      { ...proof, pi_c: proof.pi_a },
      ...[null, undefined, 5, "proof", [], {}, { pi_a: null, pi_b: null, pi_c: null }],
    ];
    for (const each of wrong) assert.isFalse(await verify(vkey, publicSignals, each as Groth16Proof));
    const signals: unknown[] = [
      [String(210n + r), "42"],
      ["210"],
      ["210", "42", "0"],
      ["0210", "42"],
      ["-1", "42"],
      [210, 42],
      ...[null, undefined, "210", {}, [null, null]],
    ];
    for (const each of signals) assert.isFalse(await verify(vkey, each as string[], proof));
    assert.isTrue(await verify(vkey, [210n, 42n] as never, proof));
    for (const key of [null, undefined, 5, {}, "{", { ...vkey, nPublic: 1 }, { ...vkey, protocol: "plonk" }])
      await expectRejected("VERIFICATION_KEY_INVALID", () => verify(key, publicSignals, proof));
  });

  it("is stricter than snarkjs where the README says so", async () => {
    const zero = await groth16.fullProve({ ...TOY_INPUT, label: 0 }, wasm, zkey);
    const [ax, ay] = zero.proof.pi_a as [string, string];
    const { proof } = zero;
    const lax: [string[], Groth16Proof][] = [
      [["210", "0"], { ...proof, pi_a: [String(BigInt(ax) + q), ay, "1"] }],
      [["210", "0"], { ...proof, pi_a: [`0${ax}`, ay, "1"] }],
      [["210", "0"], { ...proof, pi_a: [`0x${BigInt(ax).toString(16)}`, ay, "1"] }],
      [["0xd2", "0"], proof],
      [[210, 0] as never, proof],
      [["210"], proof],
      [["210", "0"], { ...proof, pi_a: [ax, ay] }],
    ];
    await withSnarkjs(async () => {
      for (const [signals, each] of lax) {
        assert.isTrue(await snarkjs.groth16.verify(vkey, signals, each));
        assert.isFalse(await groth16.verify(vkey, signals, each));
      }
      const { protocol: _, ...unnamed } = vkey;
      const withBigints = { ...vkey, vk_alpha_1: (vkey["vk_alpha_1"] as string[]).map(BigInt) };
      for (const key of [unnamed, withBigints]) {
        assert.isTrue(await snarkjs.groth16.verify(key, ["210", "0"], proof));
        await expectRejected("VERIFICATION_KEY_INVALID", () => groth16.verify(key, ["210", "0"], proof));
      }
      for (const [label, expected] of [
        ["", "0"],
        [" 42 ", "42"],
        ["+42", "42"],
        ["0b101010", "42"],
      ] as const) {
        const { publicSignals } = await snarkjs.groth16.fullProve({ ...TOY_INPUT, label } as never, wasm, zkey);
        assert.equal(publicSignals[1], expected);
        await expectRejected("INPUT_INVALID", () => groth16.fullProve({ ...TOY_INPUT, label }, wasm, zkey));
      }
      const minus = { ...TOY_INPUT, label: "-0x1" };
      assert.instanceOf(await anyRejection(snarkjs.groth16.fullProve(minus as never, wasm, zkey)), SyntaxError);
      const numbers = [210, 42] as never;
      assert.isString(await snarkjs.groth16.exportSolidityCallData(proof, numbers));
      await expectRejected("SIGNALS_MALFORMED", () => groth16.exportSolidityCallData(proof, numbers));
      const failure = await snarkjs.groth16.verify(vkey, ["210", "0"], {} as never).catch((error: unknown) => error);
      assert.instanceOf(failure, TypeError);
      const unblinded = new Uint8Array(readFileSync(zkey));
      parseZkey(unblinded).delta1.fill(0);
      assert.property(await snarkjs.groth16.fullProve(TOY_INPUT as never, wasm, unblinded), "proof");
      await expectRejected("PROVING_KEY_INVALID", () => groth16.fullProve(TOY_INPUT, wasm, unblinded));
    });
  });

  it("checks a key again after its object was changed", async () => {
    const own = structuredClone(vkey) as { IC: string[][] };
    assert.isTrue(await groth16.verify(own, made.publicSignals, made.proof));
    [own.IC[0], own.IC[1]] = [own.IC[1]!, own.IC[0]!];
    assert.isFalse(await groth16.verify(own, made.publicSignals, made.proof));
    own.IC[0] = ["1", "1", "1"];
    await expectRejected("VERIFICATION_KEY_INVALID", () => groth16.verify(own, made.publicSignals, made.proof));
  });

  it("parses the text of a key once, and refuses a key with a cycle by code", async () => {
    const text = JSON.stringify(vkey, null, 1);
    const { parse } = JSON;
    let parsed = 0;
    JSON.parse = (...args) => {
      parsed++;
      return parse(...args);
    };
    try {
      for (let round = 0; round < 2; round++) assert.isTrue(await groth16.verify(text, made.publicSignals, made.proof));
    } finally {
      JSON.parse = parse;
    }
    assert.equal(parsed, 1);
    const cyclic: Record<string, unknown> = structuredClone(vkey);
    cyclic["self"] = cyclic;
    assert.isTrue(await groth16.verify(cyclic, made.publicSignals, made.proof), "other properties are not used");
    cyclic["IC"] = [cyclic, cyclic, cyclic];
    await expectRejected("VERIFICATION_KEY_INVALID", () => groth16.verify(cyclic, made.publicSignals, made.proof));
  });

  it("names no circuit in its errors, because it knows no name", async () => {
    const unchecked = new Uint8Array(readFileSync(zkey));
    parseZkey(unchecked).gamma2.fill(0);
    const prepared = await groth16.prepare(TOY_INPUT, "label", wasm, zkey);
    prepared.discard();
    for (const [run, expected] of [
      [() => groth16.fullProve({ ...TOY_INPUT, label: "x" }, wasm, zkey), /^Input label: /],
      [() => groth16.fullProve({ ...TOY_INPUT, product: 211 }, wasm, zkey), /^The inputs do not satisfy the circuit: /],
      [() => groth16.fullProve(TOY_INPUT, new Uint8Array(8), zkey), /^The witness generator is not usable: /],
      [() => prepared.finish(43n), /^This prepared proof was finished, /],
      [() => groth16.verify({}, [], made.proof), /^The verification key is not valid: `protocol` /],
      [
        () => groth16.fullProve(TOY_INPUT, wasm, unchecked),
        /^The proving key is not usable: the verification key in it is not valid: [^:]+\.$/,
      ],
    ] as const) {
      const error = await rejection(run());
      assert.match(error.message, expected);
    }
  });

  it("verifies batches like single proofs", async () => {
    const { proof, publicSignals } = made;
    const good = { proof, publicSignals };
    const others = await Promise.all(
      [1, 2, 3].map((label) => groth16.fullProve({ ...TOY_INPUT, label }, wasm, zkey, { selfCheck: false })),
    );
    const wrong = { proof, publicSignals: ["210", "43"] };
    const malformed = { proof: {} as Groth16Proof, publicSignals };
    for (const batch of [
      [],
      [good],
      [wrong],
      [good, ...others, theirs],
      [good, wrong],
      [wrong, good, ...others],
      [good, malformed, ...others, wrong],
      [malformed, wrong, malformed],
      // Wrong proofs whose errors cancel without weights.
      ["43", "41", "44", "40"].map((label) => ({ ...good, publicSignals: ["210", label] })),
    ]) {
      const expected = [];
      for (const each of batch) expected.push(await groth16.verify(vkey, each.publicSignals, each.proof));
      assert.deepEqual(await groth16.verifyBatch(vkey, batch), expected);
    }
  });

  it("answers false for entries of a batch that are not proofs", async () => {
    const good = { proof: made.proof, publicSignals: made.publicSignals };
    const batch = [null, good, undefined, 7, "proof", {}, { proof: null }] as unknown as (typeof good)[];
    assert.deepEqual(await groth16.verifyBatch(vkey, batch), [false, true, false, false, false, false, false]);
  });

  it("verifies a batch with less work than one by one, and with at most half more if a proof is wrong", async () => {
    const good = { proof: made.proof, publicSignals: made.publicSignals };
    const wrong = { ...good, publicSignals: ["210", "43"] };
    const curve = await sharedCurve();
    const { millerLoop, finalExponentiation } = curve;
    const calls = { pairs: 0, exponentiations: 0 };
    const callsOf = async (batch: readonly (typeof good)[]) => {
      Object.assign(calls, { pairs: 0, exponentiations: 0 });
      await groth16.verifyBatch(vkey, batch);
      return { ...calls };
    };
    Object.assign(curve, {
      millerLoop: (pairs: Parameters<typeof millerLoop>[0]) => {
        calls.pairs += pairs.length;
        return millerLoop(pairs);
      },
      finalExponentiation: (value: Parameters<typeof finalExponentiation>[0]) => {
        calls.exponentiations++;
        return finalExponentiation(value);
      },
    });
    try {
      const alone = await callsOf([good]);
      const all = await callsOf(new Array(16).fill(good));
      assert.isBelow(all.pairs, 0.5 * 16 * alone.pairs);
      assert.isBelow(all.exponentiations, 0.5 * 16 * alone.exponentiations);
      for (const batch of [new Array(16).fill(good).with(5, wrong), new Array(16).fill(wrong)]) {
        const some = await callsOf(batch);
        assert.isBelow(some.pairs, 1.5 * 16 * alone.pairs);
        assert.isBelow(some.exponentiations, 1.5 * 16 * alone.exponentiations);
      }
    } finally {
      Object.assign(curve, { millerLoop, finalExponentiation });
    }
  });

  it("writes the call data that snarkjs writes", async () => {
    for (const { proof, publicSignals } of [made, theirs])
      assert.equal(
        await groth16.exportSolidityCallData(proof, publicSignals),
        await snarkjs.groth16.exportSolidityCallData(proof, publicSignals),
      );
    const { proof } = made;
    assert.equal(
      await groth16.exportSolidityCallData(proof, []),
      await snarkjs.groth16.exportSolidityCallData(proof, []),
    );
    await expectRejected("SIGNAL_RANGE", () => groth16.exportSolidityCallData(proof, [String(r)]));
    await expectRejected("PROOF_MALFORMED", () => groth16.exportSolidityCallData({} as Groth16Proof, []));
  });

  it("prepares a proof before a signal is known", async () => {
    const prepared = await groth16.prepare(TOY_INPUT, "label", wasm, zkey);
    assert.deepEqual(prepared.publicSignals, ["210", "0"]);
    const { proof, publicSignals } = await prepared.finish(43n);
    assert.deepEqual(publicSignals, ["210", "43"]);
    assert.isTrue(await groth16.verify(vkey, publicSignals, proof));
    await expectRejected("PREPARED_PROOF_GONE", () => prepared.finish(44n));
    await expectRejected("INPUT_INVALID", () => groth16.prepare(TOY_INPUT, "label", wasm, zkey, { idleMs: 0 }));
    // @ts-expect-error: a prepared proof is always checked
    (await groth16.prepare(TOY_INPUT, "label", wasm, zkey, { selfCheck: false })).discard();
    const discarded = await groth16.prepare(TOY_INPUT, "label", wasm, zkey, { idleMs: 1000 });
    discarded.discard();
    await expectRejected("PREPARED_PROOF_GONE", () => discarded.finish(44n));
  });

  it("reports stages, stops when aborted, and takes snarkjs's positions of loggers and options", async () => {
    for (const run of [
      (options: object) => groth16.fullProve(TOY_INPUT, wasm, zkey, options),
      (options: object) => groth16.prove(zkey, wtns, options),
      (options: object) => groth16.prepare(TOY_INPUT, "label", wasm, zkey, options),
    ]) {
      const stages: string[] = [];
      await run({ onProgress: (stage: string) => stages.push(stage) });
      assert.deepEqual(stages, ["artifacts", "witness", "proof", "check", "done"]);
      for (const last of ["artifacts", "witness", "proof", "check"]) {
        const controller = new AbortController();
        const onProgress = (stage: string) => stage === last && controller.abort();
        await expectRejected("ABORTED", () => run({ signal: controller.signal, onProgress }));
      }
    }
    const logged: string[] = [];
    const logger = { debug: (text: string) => logged.push(text), info: (text: string) => logged.push(text) };
    const { proof, publicSignals } = await groth16.fullProve(TOY_INPUT, wasm, zkey, logger, undefined, {
      singleThread: true,
    });
    assert.isTrue(await groth16.verify(vkey, publicSignals, proof, logger));
    await groth16.prove(zkey, wtns, null, { singleThread: true });
    assert.deepEqual(logged, []);
  });

  it("lets a script end by itself, in the main thread and in a worker thread", () => {
    const entry = pathToFileURL(join(import.meta.dirname, "..", "dist", "index.js")).href;
    const program = `
      const { groth16 } = await import(${JSON.stringify(entry)});
      const { proof, publicSignals } = await groth16.fullProve(${TOY_INPUT_JSON}, ${JSON.stringify(wasm)}, ${JSON.stringify(zkey)});
      console.log(await groth16.verify(${JSON.stringify(vkey)}, publicSignals, proof));`;
    const inWorker = `
      import { Worker } from "node:worker_threads";
      new Worker(new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(program)})));`;
    for (const script of [program, inWorker]) {
      const args = ["--input-type=module", "--no-warnings", "-e", script];
      assert.equal(execFileSync(process.execPath, args, { encoding: "utf8", timeout: 20_000 }), "true\n");
    }
  });
});
