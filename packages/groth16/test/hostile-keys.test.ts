import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { twistPoint } from "@sotto/test-kit/twist-points";
import { assert } from "chai";
import { COEFFICIENT_BYTES } from "../src/fast/layout.ts";
import {
  type CircuitFiles,
  createCircuitProver,
  createCircuitVerifier,
  fastEngine,
  type ProvingEngine,
  parseVerificationKey,
  type VerificationKey,
} from "../src/index.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";
import { createWitnessCalculator } from "../src/witness/calculator.ts";
import { fileOf as anyFileOf, BLS12_381_R, type Section, type Start, sectionsOf, toBytes } from "./support/sections.ts";
import { toyFiles } from "./support/toy-files.ts";

const fileOf = (sections: readonly Section[], start: Partial<Start> = {}) =>
  anyFileOf(sections, { magic: "zkey", version: 1, ...start });

/** Offsets in section 2, behind both orders. */
const HEADER = { variables: 72, publicSignals: 76, domainSize: 80, alpha1: 84, beta1: 148, delta1: 468, delta2: 532 };

describe("hostile proving keys", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let files: CircuitFiles;
  let zkey: Uint8Array;
  let witness: Uint8Array;
  let key: VerificationKey;
  const engines: readonly ProvingEngine[] = [fastEngine(), fastEngine({ singleThread: true })];

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    files = toyFiles(build, parseVerificationKey);
    zkey = new Uint8Array(readFileSync(join(build, "toy", "toy.zkey")));
    witness = await (await createWitnessCalculator("toy", await files.wasm())).calculate(TOY_INPUT);
    key = await files.verificationKey();
  });

  /** The key after a change of one section's bytes, or of all sections. */
  const changed = (id: number, change: (bytes: Uint8Array, view: DataView) => Uint8Array | undefined) =>
    fileOf(
      sectionsOf(zkey).map((section) => {
        if (section.id !== id) return section;
        const bytes = section.bytes.slice();
        return { id, bytes: change(bytes, new DataView(bytes.buffer)) ?? bytes };
      }),
    );
  const withNumber = (id: number, offset: number, value: number) =>
    changed(id, (bytes, view) => {
      view.setUint32(offset, value, true);
      return bytes;
    });
  const withBytes = (id: number, offset: number, value: Uint8Array) =>
    changed(id, (bytes) => {
      bytes.set(value, offset);
      return bytes;
    });

  async function assertRefused(name: string, damaged: Uint8Array): Promise<void> {
    for (const engine of engines) {
      const error = await rejection(
        engine.prove(damaged, witness).then((points) => {
          throw new Error(`${name}: gives a proof ${JSON.stringify(points, (_, value) => String(value))}`);
        }),
      );
      assert.equal(error.code, "PROVING_KEY_INVALID", `${name}: ${error.message}`);
    }
  }

  async function assertUsable(file: Uint8Array): Promise<void> {
    for (const engine of engines) {
      const prover = createCircuitProver({ ...files, zkey: async () => file }, { engine });
      const { proof } = await prover.prove(TOY_INPUT);
      assert.isTrue(await createCircuitVerifier(key).verify(proof, TOY_SIGNALS));
    }
  }

  it("are compared with one that works", async () => {
    assert.deepEqual(fileOf(sectionsOf(zkey)), zkey);
    await assertUsable(zkey);
    // Files may have further sections: the format allows them.
    await assertUsable(fileOf([...sectionsOf(zkey), { id: 4711, bytes: new Uint8Array(5) }]));
  });

  it("are refused if they are cut off at any section, or in it", async () => {
    let offset = 12;
    for (const { id, bytes } of sectionsOf(zkey)) {
      for (const end of [offset, offset + 11, offset + 12, offset + 12 + (bytes.byteLength >> 1)])
        await assertRefused(`cut at byte ${end}, section ${id}`, zkey.slice(0, end));
      offset += 12 + bytes.byteLength;
    }
    for (const end of [0, 3, 11, zkey.byteLength - 1]) await assertRefused(`cut at byte ${end}`, zkey.slice(0, end));
  });

  it("are refused if a section is missing, doubled, empty, too short or too long", async () => {
    const sections = sectionsOf(zkey);
    for (const [index, section] of sections.entries()) {
      // Proving needs neither the bases of the public signals nor the contributions.
      const { id, bytes } = section;
      if (id === 3 || id === 10) continue;
      await assertRefused(`without section ${id}`, fileOf(sections.toSpliced(index, 1)));
      await assertRefused(`section ${id} twice`, fileOf([...sections, section]));
      await assertRefused(
        `section ${id} empty`,
        changed(id, () => new Uint8Array(0)),
      );
      await assertRefused(
        `section ${id} short`,
        changed(id, () => bytes.slice(0, -1)),
      );
      await assertRefused(
        `section ${id} long`,
        changed(id, () => new Uint8Array([...bytes, 0])),
      );
    }
  });

  it("are refused if the container lies about sections", async () => {
    const sections = sectionsOf(zkey);
    for (const count of [0, 1, sections.length - 2, sections.length + 1, 2 ** 32 - 1])
      await assertRefused(`${count} sections`, fileOf(sections, { count }));
    for (const length of [2n ** 64n - 1n, 2n ** 63n, 2n ** 53n + 1n, 2n ** 32n, 2n ** 31n]) {
      for (const index of [0, 1, 4, sections.length - 1])
        await assertRefused(`length ${length}`, fileOf(sections.with(index, { ...sections[index]!, length })));
    }
    await assertRefused("another magic", fileOf(sections, { magic: "wtns" }));
    await assertRefused("another version", fileOf(sections, { version: 2 }));
    await assertRefused("bytes after the last section", new Uint8Array([...zkey, 0]));
  });

  it("are refused if the header lies about variables, public signals or the domain", async () => {
    const view = new DataView(sectionsOf(zkey)[1]!.bytes.buffer);
    for (const [name, offset] of Object.entries(HEADER).slice(0, 3)) {
      const value = view.getUint32(offset, true);
      const others = [0, 1, value - 1, value + 1, 2 * value, value / 2, 3, 2 ** 16, 2 ** 28, 2 ** 31, 2 ** 32 - 1];
      for (const other of new Set(others.map((number) => Math.floor(number) >>> 0)))
        if (other !== value) await assertRefused(`${name} ${other}`, withNumber(2, offset, other));
    }
    const count = new DataView(sectionsOf(zkey)[3]!.bytes.buffer).getUint32(0, true);
    for (const other of [0, 1, count - 1, count + 1, 2 ** 28, 2 ** 32 - 1])
      await assertRefused(`${other} coefficients`, withNumber(4, 0, other));
  });

  it("are refused for another curve or proof system", async () => {
    for (const system of [0, 2, 10, 2 ** 32 - 1]) await assertRefused(`protocol ${system}`, withNumber(1, 0, system));
    await assertRefused("another base field", withBytes(2, 4, toBytes(BLS12_381_R)));
    await assertRefused("another scalar field", withBytes(2, 40, toBytes(BLS12_381_R)));
    for (const [offset, size] of [
      [0, 48],
      [36, 48],
      [0, 0],
    ] as const)
      await assertRefused(`fields of ${size} bytes`, withNumber(2, offset, size));
  });

  it("are refused if a number is not below its field's order", async () => {
    for (const value of [q, 2n ** 255n, 2n ** 256n - 1n]) {
      const bytes = toBytes(value);
      for (const id of [5, 6, 7, 8, 9]) {
        const { byteLength } = sectionsOf(zkey)[id - 1]!.bytes;
        for (const offset of [0, 32, byteLength - 32])
          await assertRefused(`section ${id} at ${offset}: ${value}`, withBytes(id, offset, bytes));
      }
      for (const offset of [84, 148, 212, 276, 468, 532, 628])
        await assertRefused(`section 2 at ${offset}: ${value}`, withBytes(2, offset, bytes));
    }
    for (const value of [r, 2n ** 256n - 1n]) {
      for (const offset of [4 + 12, 4 + 2 * COEFFICIENT_BYTES + 12])
        await assertRefused(`a coefficient of ${value}`, withBytes(4, offset, toBytes(value)));
    }
  });

  it("are refused if a coefficient's matrix, row or variable does not exist", async () => {
    for (const [offset, value] of [
      [4, 2],
      [8, 2 ** 20],
      [12, 2 ** 32 - 1],
    ] as const)
      await assertRefused(`coefficient, ${offset}: ${value}`, withNumber(4, offset, value));
  });

  it("are refused if a point of the header is infinity, off the curve or outside the subgroup", async () => {
    for (const [name, offset] of Object.entries(HEADER).slice(3)) {
      const bytes = name === "delta2" ? 128 : 64;
      await assertRefused(`${name} at infinity`, withBytes(2, offset, new Uint8Array(bytes)));
      await assertRefused(`${name} off the curve`, withBytes(2, offset, toBytes(1n)));
    }
    await assertRefused("beta2 at infinity", withBytes(2, 212, new Uint8Array(128)));
    const { x, y } = twistPoint();
    const outside = new Uint8Array([...x, ...y].flatMap((part) => [...toBytes((part << 256n) % q)]));
    for (const offset of [212, 532]) await assertRefused("outside the subgroup", withBytes(2, offset, outside));
  });

  it("give no proof if bases are swapped, off the curve, outside the subgroup or of another key", async () => {
    const sections = sectionsOf(zkey);
    const bytesOf = (id: number) => sections[id - 1]!.bytes;
    const { x, y } = twistPoint();
    const outside = new Uint8Array([...x, ...y].flatMap((part) => [...toBytes((part << 256n) % q)]));
    const fill = (bytes: Uint8Array, point: Uint8Array) => bytes.map((_, index) => point[index % point.length]!);
    const damaged: [string, Uint8Array][] = [
      [
        "A and B1 swapped",
        fileOf(sections.with(4, { id: 5, bytes: bytesOf(6) }).with(5, { id: 6, bytes: bytesOf(5) })),
      ],
      ["A off the curve", changed(5, (bytes) => bytes.fill(1))],
      ["B2 off the curve", changed(7, (bytes) => bytes.fill(1))],
      ["B2 outside the subgroup", changed(7, (bytes) => fill(bytes, outside))],
      ["H off the curve", changed(9, (bytes) => bytes.fill(1))],
      ["H at infinity", changed(9, (bytes) => bytes.fill(0))],
      ["C at infinity", changed(8, (bytes) => bytes.fill(0))],
      ["no coefficients", changed(4, (bytes) => bytes.fill(0).slice(0, 4))],
    ];
    for (const [name, file] of damaged) {
      for (const engine of engines) {
        const prover = createCircuitProver({ ...files, zkey: async () => file }, { engine });
        const error = await rejection(prover.prove(TOY_INPUT));
        assert.equal(error.code, "PROOF_SELF_CHECK_FAILED", `${name}: ${error.message}`);
      }
    }
  });

  it("do no harm to later proofs", async () => {
    await assertUsable(zkey.slice());
  });
});
