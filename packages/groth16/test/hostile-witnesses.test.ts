import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { groth16 } from "../src/index.ts";
import { SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";
import { createWitnessCalculator } from "../src/witness/calculator.ts";
import { fileOf as anyFileOf, BLS12_381_R, type Section, type Start, toBytes } from "./support/sections.ts";

const fileOf = (sections: readonly Section[], start: Partial<Start> = {}) =>
  anyFileOf(sections, { magic: "wtns", version: 2, ...start });

function headerOf(count: number, { size = 32, order = r } = {}): Section {
  const bytes = Buffer.alloc(40);
  bytes.writeUInt32LE(size, 0);
  bytes.set(toBytes(order), 4);
  bytes.writeUInt32LE(count, 36);
  return { id: 1, bytes };
}

describe("hostile witness files", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let zkey: Uint8Array;
  let witness: Uint8Array;

  before(async () => {
    const toy = join(await buildToy(import.meta.dirname), "toy");
    zkey = new Uint8Array(readFileSync(join(toy, "toy.zkey")));
    witness = await (await createWitnessCalculator("toy", readFileSync(join(toy, "toy.wasm")))).calculate(TOY_INPUT);
  });

  const count = (): number => witness.byteLength / 32;
  const good = (): Section[] => [headerOf(count()), { id: 2, bytes: witness }];
  const changed = (index: number, value: bigint): Uint8Array => {
    const bytes = witness.slice();
    bytes.set(toBytes(value), 32 * index);
    return fileOf([headerOf(count()), { id: 2, bytes }]);
  };
  const prove = (file: Uint8Array) => groth16.prove(zkey, file);
  const assertRefused = (file: Uint8Array) => expectRejected("WITNESS_FILE_INVALID", () => prove(file));

  it("are compared with one that works", async () => {
    assert.deepEqual((await prove(fileOf(good()))).publicSignals, TOY_SIGNALS);
    assert.deepEqual((await prove(fileOf(good().toReversed()))).publicSignals, TOY_SIGNALS);
  });

  it("are refused if they are cut off anywhere", async () => {
    const file = fileOf(good());
    for (let end = 0; end < file.byteLength; end += 13) await assertRefused(file.slice(0, end));
  });

  it("are refused if a section is missing, doubled, empty, or of another length", async () => {
    const [header, elements] = good() as [Section, Section];
    for (const sections of [[], [header], [elements], [header, header, elements], [header, elements, elements]])
      await assertRefused(fileOf(sections));
    for (const bytes of [new Uint8Array(0), witness.slice(0, -1), witness.slice(32), new Uint8Array([...witness, 0])])
      await assertRefused(fileOf([header, { id: 2, bytes }]));
    for (const bytes of [new Uint8Array(0), header.bytes.slice(0, -1), new Uint8Array([...header.bytes, 0])])
      await assertRefused(fileOf([{ id: 1, bytes }, elements]));
  });

  it("are refused if the container or the header lies", async () => {
    const [header, elements] = good() as [Section, Section];
    for (const number of [0, 1, 3, 2 ** 32 - 1]) await assertRefused(fileOf(good(), { count: number }));
    for (const length of [2n ** 64n - 1n, 2n ** 53n + 1n, 2n ** 32n])
      for (const sections of [
        [{ ...header, length }, elements],
        [header, { ...elements, length }],
      ])
        await assertRefused(fileOf(sections));
    for (const number of [0, count() - 1, count() + 1, 2 ** 28, 2 ** 32 - 1])
      await assertRefused(fileOf([headerOf(number), elements]));
    await assertRefused(fileOf(good(), { magic: "zkey" }));
    await assertRefused(fileOf(good(), { version: 3 }));
    await assertRefused(fileOf([headerOf(count(), { size: 48 }), elements]));
    await assertRefused(fileOf([headerOf(count(), { order: BLS12_381_R }), elements]));
  });

  it("are refused if an element is not below the order, or the first one is not one", async () => {
    for (const value of [r, r + 1n, 2n ** 255n, 2n ** 256n - 1n])
      for (const index of [0, 1, count() - 1]) await assertRefused(changed(index, value));
    for (const value of [0n, 2n, r - 1n]) await assertRefused(changed(0, value));
  });

  it("of another circuit, or that do not satisfy it, give no proof", async () => {
    for (const number of [1, count() - 1, count() + 1]) {
      const bytes = new Uint8Array(32 * number);
      bytes.set(witness.subarray(0, bytes.byteLength));
      await assertRefused(fileOf([headerOf(number), { id: 2, bytes }]));
    }
    for (let index = 1; index < count(); index++) {
      // The toy has no wire without constraints.
      await expectRejected("PROOF_SELF_CHECK_FAILED", () => prove(changed(index, 4711n)));
    }
    assert.deepEqual((await prove(fileOf(good()))).publicSignals, TOY_SIGNALS);
  });
});
