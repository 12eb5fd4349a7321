import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { signed, text, unsigned, vector } from "../src/fast/encoding.ts";
import { type CircuitFiles, createCircuitProver, parseVerificationKey } from "../src/index.ts";
import { SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";
import { createWitnessCalculator } from "../src/witness/calculator.ts";
import { toyFiles } from "./support/toy-files.ts";

const section = (id: number, content: readonly number[]): number[] => [id, ...unsigned(content.length), ...content];
const value = (number: number): number[] => [0x41, ...signed(BigInt(number | 0))];
/** Calls the import of this number. */
const call = (index: number): number[] => [0x10, ...unsigned(index)];
const TRAP = [0x00];
const DROP = 0x1a;

/** The exports of a generator that computes nothing, for a circuit with one input `in`. A body leaves one number. */
const HONEST: Readonly<Record<string, readonly number[]>> = {
  getVersion: value(2),
  getFieldNumLen32: value(8),
  getRawPrime: value(0),
  // The words of r, from address 0 on.
  readSharedRWMemory: [0x20, 0, ...value(2), 0x74, 0x28, 2, 0],
  writeSharedRWMemory: value(0),
  init: value(0),
  getInputSize: value(1),
  getInputSignalSize: value(1),
  setInputSignal: value(0),
  getWitnessSize: value(4),
  getWitness: value(0),
  getMessageChar: value(0),
};
/** Parameters, as circom has them. */
const PARAMETERS: Readonly<Record<string, number>> = {
  readSharedRWMemory: 1,
  writeSharedRWMemory: 2,
  init: 1,
  getInputSignalSize: 2,
  setInputSignal: 3,
  getWitness: 1,
};
/** The reader of witnesses needs these without a result. */
const SILENT = ["getWitness"];
const [EXCEPTION, PRINT, WRITE] = [0, 1, 2];

/** A generator whose functions are honest except for the given ones; undefined leaves a function out. */
function generator(changes: Readonly<Record<string, readonly number[] | undefined>> = {}, pages = 1): Uint8Array {
  const functions = Object.entries({ ...HONEST, ...changes }).filter(([, body]) => body !== undefined);
  // Types 0 to 3: so many parameters and a result; 4 and 5: no result, with and without a parameter.
  const types = [0, 1, 2, 3].map((count) => [0x60, ...vector(Array(count).fill([0x7f])), 1, 0x7f]);
  const imports = ["exceptionHandler", "printErrorMessage", "writeBufferMessage"];
  const prime = Array.from({ length: 32 }, (_, byte) => Number((r >> BigInt(8 * byte)) & 0xffn));
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector([...types, [0x60, 1, 0x7f, 0], [0x60, 0, 0]])),
    ...section(2, vector(imports.map((name, index) => [...text("runtime"), ...text(name), 0, index === 0 ? 4 : 5]))),
    ...section(3, vector(functions.map(([name]) => [SILENT.includes(name) ? 4 : (PARAMETERS[name] ?? 0)]))),
    ...section(5, [1, 0, ...unsigned(pages)]),
    ...section(
      7,
      vector([
        [...text("memory"), 2, 0],
        ...functions.map(([name], index) => [...text(name), 0, ...unsigned(index + imports.length)]),
      ]),
    ),
    ...section(
      10,
      vector(
        functions.map(([name, body = []]) => {
          const code = [0, ...body, ...(SILENT.includes(name) ? [DROP] : []), 0x0b];
          return [...unsigned(code.length), ...code];
        }),
      ),
    ),
    ...section(11, [1, 0, ...value(0), 0x0b, ...unsigned(prime.length), ...prime]),
  ]);
}

const input = { in: 1n };

describe("hostile witness generators", function () {
  slow(this, "a circuit is compiled, and proofs made");

  it("are compared with one that works", async () => {
    const witness = await (await createWitnessCalculator("x", generator())).calculate(input);
    assert.equal(witness.byteLength, 4 * 32);
  });

  it("are refused if a function is missing, fails, or states another field", async () => {
    for (const name of ["getVersion", "getRawPrime", "getFieldNumLen32", "readSharedRWMemory", "getWitnessSize"]) {
      for (const body of [undefined, TRAP, [...value(1), ...call(EXCEPTION), ...value(2)]])
        await expectRejected("WITNESS_GENERATOR_INVALID", () =>
          createWitnessCalculator("x", generator({ [name]: body })),
        );
    }
    await expectRejected("WITNESS_GENERATOR_INVALID", () =>
      createWitnessCalculator("x", generator({ readSharedRWMemory: value(1) })),
    );
    for (const name of ["getInputSize", "getInputSignalSize", "getWitness"]) {
      for (const body of [undefined, TRAP]) {
        await expectRejected("WITNESS_GENERATOR_INVALID", async () => {
          const calculator = await createWitnessCalculator("x", generator({ [name]: body }));
          await calculator.calculate(input);
        });
      }
    }
    for (const name of ["init", "setInputSignal", "writeSharedRWMemory"]) {
      const calculator = await createWitnessCalculator("x", generator({ [name]: TRAP }));
      await expectRejected("WITNESS_REFUSED", () => calculator.calculate(input));
    }
  });

  it("are refused if their memory or witness is larger than 2 GiB", async () => {
    const sizes = [0, 2 ** 26 + 1, 2 ** 28, 2 ** 31, -1];
    for (const size of sizes) {
      await expectRejected("WITNESS_GENERATOR_INVALID", () =>
        createWitnessCalculator("x", generator({ getWitnessSize: value(size) })),
      );
    }
    await expectRejected("WITNESS_GENERATOR_INVALID", () => createWitnessCalculator("x", generator({}, 32_769)));
    // memory.grow by 3 GiB while it computes.
    for (const name of ["init", "getWitness"]) {
      const growing = await createWitnessCalculator("x", generator({ [name]: [...value(49_152), 0x40, 0] }));
      const error = await expectRejected("WITNESS_GENERATOR_INVALID", () => growing.calculate(input));
      assert.match(error.message, /more than 2 GiB/);
    }
  });

  it("cannot make an endless message", async () => {
    // setInputSignal prints until the process ends, and each message has no end.
    const endless = [
      0x03,
      0x40,
      ...call(PRINT),
      ...call(WRITE),
      ...value(4),
      ...call(EXCEPTION),
      0x0c,
      0,
      0x0b,
      ...value(0),
    ];
    const wasm = generator({ setInputSignal: endless, getMessageChar: value(65) });
    const calculator = await createWitnessCalculator("x", wasm);
    const { message } = await expectRejected("WITNESS_REFUSED", () => calculator.calculate(input));
    assert.include(message, "AAA");
    assert.isBelow(message.length, 2_000);
    // 1,000 messages, then the exception.
    const counted = [
      ...Array.from({ length: 1_000 }, () => call(PRINT)).flat(),
      ...[...value(4), ...call(EXCEPTION), ...value(0)],
    ];
    const many = await createWitnessCalculator("x", generator({ setInputSignal: counted, getMessageChar: value(65) }));
    const error = await expectRejected("WITNESS_REFUSED", () => many.calculate(input));
    assert.isBelow(error.message.length, 30_000);
  });

  it("give no proof with the keys of another circuit", async () => {
    const files = toyFiles(await buildToy(import.meta.dirname), parseVerificationKey);
    const one: CircuitFiles = { ...files, wasm: async () => generator() };
    await expectRejected("ENGINE_FAILED", () => createCircuitProver(one).prove(input));
    const same: CircuitFiles = { ...files, wasm: async () => generator({ getWitnessSize: value(12) }) };
    await expectRejected("PROOF_SELF_CHECK_FAILED", () => createCircuitProver(same).prove(input));
    const key = await files.verificationKey();
    const larger = { ...key, nPublic: 500, IC: Array.from({ length: 501 }, () => key.IC[0]!) };
    const mixed: CircuitFiles = { ...files, verificationKey: async () => larger };
    await expectRejected("PROOF_SELF_CHECK_FAILED", () => createCircuitProver(mixed).prove(TOY_INPUT));
    assert.lengthOf((await createCircuitProver(files).prove(TOY_INPUT)).publicSignals, 2);
  });
});
