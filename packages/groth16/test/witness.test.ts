import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { SCALAR_FIELD_ORDER } from "../src/proof/orders.ts";
import { createWitnessCalculator, type WitnessCalculator } from "../src/witness/calculator.ts";
import { signalHash } from "../src/witness/hash.ts";
import type { CircuitInput } from "../src/witness/input.ts";

const SECRET = 987654321987654321n;

function element(witness: Uint8Array, index: number): bigint {
  return BigInt(`0x${Buffer.from(witness.slice(32 * index, 32 * index + 32).reverse()).toString("hex")}`);
}

describe("witness calculator", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let calculator: WitnessCalculator;

  before(async () => {
    const wasm = readFileSync(join(await buildToy(import.meta.dirname), "toy", "toy.wasm"));
    calculator = await createWitnessCalculator("toy", wasm);
  });

  it("hashes names like circom (FNV-1a, published vector)", () => {
    assert.deepEqual(signalHash(""), [0xcbf29ce4, 0x84222325]);
    assert.deepEqual(signalHash("foobar"), [0x85944171, 0xf73967e8]);
  });

  it("starts with the constant one and the public signals", async () => {
    const witness = await calculator.calculate(TOY_INPUT);
    assert.deepEqual(
      [0, 1, 2].map((index) => element(witness, index)),
      [1n, 210n, 42n],
    );
  });

  it("accepts nested and flat arrays, bigints and decimal strings", async () => {
    const nested = await calculator.calculate(TOY_INPUT);
    const flat = await calculator.calculate({ ...TOY_INPUT, factors: ["2", "3", "5", "7"], product: "210" });
    assert.deepEqual(flat, nested);
  });

  it("accepts the largest field element", async () => {
    const witness = await calculator.calculate({ ...TOY_INPUT, label: SCALAR_FIELD_ORDER - 1n });
    assert.equal(element(witness, 2), SCALAR_FIELD_ORDER - 1n);
  });

  const bad: [string, CircuitInput][] = [
    ["an unknown name", { ...TOY_INPUT, extra: 1n }],
    ["a missing name", { product: 210n, label: 1n, factors: TOY_INPUT.factors }],
    ["too few elements", { ...TOY_INPUT, factors: [2n, 3n, 5n] }],
    ["too many elements", { ...TOY_INPUT, factors: [2n, 3n, 5n, 7n, 1n] }],
    ["a negative number", { ...TOY_INPUT, secret: -SECRET }],
    ["r itself", { ...TOY_INPUT, secret: SCALAR_FIELD_ORDER }],
    ["an alias s + r", { ...TOY_INPUT, secret: SECRET + SCALAR_FIELD_ORDER }],
    ["a leading zero", { ...TOY_INPUT, secret: `0${SECRET}` }],
    ["hexadecimal", { ...TOY_INPUT, secret: `0x${SECRET.toString(16)}` }],
    ["a JavaScript number", { ...TOY_INPUT, secret: 7 as unknown as bigint }],
    ["null", { ...TOY_INPUT, secret: null as unknown as bigint }],
    ["very deep arrays", { ...TOY_INPUT, secret: [[[[[[[[[[SECRET]]]]]]]]]] }],
    ["no object", [1n] as unknown as CircuitInput],
  ];
  for (const [what, input] of bad) {
    it(`rejects ${what} without showing a value`, async () => {
      const error = await expectRejected("INPUT_INVALID", () => calculator.calculate(input));
      assert.notInclude(`${error.stack} ${JSON.stringify(error.details)}`, SECRET.toString());
    });
  }

  it("rejects inputs that do not satisfy the circuit, shows no value and remains usable", async () => {
    const good = await calculator.calculate(TOY_INPUT);
    const first = await expectRejected("WITNESS_REFUSED", () => calculator.calculate({ ...TOY_INPUT, product: 211n }));
    const wrong = { ...TOY_INPUT, secret: 0n, product: 210n, label: SECRET };
    const second = await expectRejected("WITNESS_REFUSED", () => calculator.calculate(wrong));
    assert.match(first.message, /line: \d+/);
    assert.notEqual(second.message, first.message, "the second error must not repeat the first one's text");
    assert.notInclude(`${second.stack} ${JSON.stringify(second.details)}`, SECRET.toString());
    assert.deepEqual(await calculator.calculate(TOY_INPUT), good);
  });

  it("writes nothing to the console, even if the circuit logs", async () => {
    const { log, error } = console;
    const written: unknown[] = [];
    console.log = console.error = (...args: unknown[]) => written.push(...args);
    try {
      await calculator.calculate({ ...TOY_INPUT, secret: SECRET });
      await calculator.calculate({ ...TOY_INPUT, secret: 0n }).catch(() => undefined);
    } finally {
      Object.assign(console, { log, error });
    }
    assert.isEmpty(written);
  });

  it("computes several witnesses concurrently", async () => {
    const labels = [1n, 2n, 3n, 4n, 5n];
    const witnesses = await Promise.all(labels.map((label) => calculator.calculate({ ...TOY_INPUT, label })));
    assert.deepEqual(
      witnesses.map((witness) => element(witness, 2)),
      labels,
    );
  });

  it("has an instance of the generator for each witness, and wipes its memory", async () => {
    const wasm = readFileSync(join(await buildToy(import.meta.dirname), "toy", "toy.wasm"));
    const { instantiate } = WebAssembly;
    const memories: WebAssembly.Memory[] = [];
    const watched = async (...args: [WebAssembly.Module, WebAssembly.Imports]): Promise<WebAssembly.Instance> => {
      const instance = await instantiate(...args);
      memories.push(instance.exports["memory"] as WebAssembly.Memory);
      return instance;
    };
    Object.assign(WebAssembly, { instantiate: watched });
    try {
      const own = await createWitnessCalculator("toy", wasm);
      assert.isTrue(
        new Uint8Array(memories[0]!.buffer).some((byte) => byte !== 0),
        "the test sees the memory",
      );
      await own.calculate(TOY_INPUT);
      await expectRejected("WITNESS_REFUSED", () => own.calculate({ ...TOY_INPUT, product: 211n }));
      await own.calculate(TOY_INPUT);
    } finally {
      Object.assign(WebAssembly, { instantiate });
    }
    assert.lengthOf(memories, 3);
    for (const { buffer } of memories) assert.isTrue(new Uint8Array(buffer).every((byte) => byte === 0));
  });

  it("rejects files that are not witness generators of circom 2", async () => {
    await expectRejected("WITNESS_GENERATOR_INVALID", () => createWitnessCalculator("x", new Uint8Array([1, 2, 3])));
    const emptyModule = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
    await expectRejected("WITNESS_GENERATOR_INVALID", () => createWitnessCalculator("x", emptyModule));
  });
});
