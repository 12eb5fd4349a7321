import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { randomBelow } from "@sotto/test-kit/random-below";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { expand } from "../src/compact/expand.ts";
import { AT, degreeOf, HEADER_BYTES, MAX_RATIO, SECTION_BYTES } from "../src/compact/format.ts";
import { sha256 } from "../src/compact/hash.ts";
import { inflateExactly } from "../src/compact/inflate.ts";
import { compileRoots } from "../src/compact/program.ts";
import { ODD, pointsOf } from "../src/compact/roots.ts";
import { COEFFICIENT_BYTES } from "../src/fast/layout.ts";
import { parseZkey } from "../src/fast/zkey.ts";
import { compactKey, expandKey, groth16 } from "../src/index.ts";

/** Changed bytes that are tried. */
const CHANGES = process.env["SOTTO_LONG"] === "1" ? 20_000 : 300;

/** A section of the toy's compact key, which has fewer than 1024 points. */
interface Section {
  readonly id: number;
  readonly length: number;
  /** Where its contents begin, and end. */
  readonly start: number;
  readonly end: number;
}

describe("hostile compact keys", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let wasm: string;
  let zkey: Uint8Array;
  let compact: Uint8Array;
  let sections: readonly Section[];

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    wasm = join(build, "toy", "toy.wasm");
    zkey = new Uint8Array(readFileSync(join(build, "toy", "toy.zkey")));
    compact = await compactKey(zkey);
    sections = sectionsOf(compact);
    assert.equal(sections.at(-1)?.end, compact.byteLength);
  });

  function sectionsOf(file: Uint8Array): Section[] {
    const view = new DataView(file.buffer);
    const count = view.getUint32(AT.sections, true);
    let offset = HEADER_BYTES + count * SECTION_BYTES;
    return Array.from({ length: count }, (_, index) => {
      const at = HEADER_BYTES + index * SECTION_BYTES;
      const [id, length] = [view.getUint32(at, true), Number(view.getBigUint64(at + 4, true))];
      const start = offset;
      const degree = degreeOf(id);
      if (degree !== undefined) {
        const bits = Math.ceil(length / (64 * degree) / 8);
        const finite = file
          .subarray(offset, offset + bits)
          .reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
        offset += bits + finite * 32 * degree;
      } else if (id === 4) offset += 20 + view.getUint32(offset, true) * 32 + view.getUint32(offset + 16, true);
      else offset += length;
      return { id, length, start, end: offset };
    });
  }

  const sectionOf = (id: number): Section => sections.find((section) => section.id === id) as Section;

  const changed = (change: (bytes: Uint8Array, view: DataView) => void): Uint8Array => {
    const bytes = compact.slice();
    change(bytes, new DataView(bytes.buffer));
    return bytes;
  };

  /** Another content of a section, with the sizes that belong to it. */
  function withSection(id: number, content: Uint8Array, length = sectionOf(id).length): Uint8Array {
    const { start, end, length: before } = sectionOf(id);
    const bytes = new Uint8Array(Buffer.concat([compact.subarray(0, start), content, compact.subarray(end)]));
    const view = new DataView(bytes.buffer);
    const index = sections.indexOf(sectionOf(id));
    view.setBigUint64(HEADER_BYTES + index * SECTION_BYTES + 4, BigInt(length), true);
    view.setBigUint64(AT.originalSize, BigInt(zkey.byteLength + length - before), true);
    view.setBigUint64(AT.compactSize, BigInt(bytes.byteLength), true);
    return bytes;
  }

  async function assertRefused(file: Uint8Array, message: RegExp, name: string): Promise<void> {
    for (const open of [
      () => expandKey(file).then(() => "a key"),
      () => expandKey(file, { singleThread: true }).then(() => "a key"),
      () => groth16.fullProve(TOY_INPUT, wasm, file).then(({ proof }) => JSON.stringify(proof)),
    ]) {
      const error = await rejection(open()).catch((cause: Error) => {
        throw new Error(`${name}: ${cause.message}`, { cause });
      });
      assert.equal(error.code, "COMPACT_KEY_INVALID", `${name}: ${error.message}`);
      assert.match(error.message, message, name);
    }
  }

  it("are refused if any of their bytes is changed", async () => {
    const places = new Set(Array.from({ length: HEADER_BYTES + sections.length * SECTION_BYTES }, (_, place) => place));
    for (let change = 0; change < CHANGES; change++) places.add(Number(randomBelow(BigInt(compact.byteLength))));
    // Without its first bytes, it is not a compact key, but an invalid .zkey file.
    for (const place of [...places].filter((place) => place >= 4)) {
      const file = changed((bytes) => {
        bytes[place] = (bytes[place] as number) ^ (1 << Number(randomBelow(8n)));
      });
      const error = await rejection(expandKey(file));
      assert.equal(error.code, "COMPACT_KEY_INVALID", `byte ${place}: ${error.message}`);
    }
  });

  it("are refused if they are cut off or too long", async () => {
    const step = Math.ceil(compact.byteLength / 100);
    for (let length = 4; length < compact.byteLength; length += step)
      await assertRefused(compact.subarray(0, length), /cut off|its size is not/, `${length} bytes`);
    await assertRefused(new Uint8Array([...compact, 0]), /its size is not/, "one byte more");
    const longer = new Uint8Array([...compact, 0]);
    new DataView(longer.buffer).setBigUint64(AT.compactSize, BigInt(longer.byteLength), true);
    await assertRefused(longer, /its size is not/, "one byte more, as stated");
  });

  it("are refused if their header is wrong", async () => {
    const originalSize = (size: bigint) => changed((_, view) => view.setBigUint64(AT.originalSize, size, true));
    await assertRefused(
      changed((_, view) => view.setUint32(AT.version, 2, true)),
      /version 1/,
      "version 2",
    );
    await assertRefused(originalSize(2n ** 31n), /the limit is 2147483647/, "2 GiB");
    await assertRefused(originalSize(2n ** 64n - 1n), /the limit is/, "2^64 bytes");
    await assertRefused(originalSize(BigInt(zkey.byteLength + 1)), /sections do not make/, "a byte more");
    const ratio = BigInt(MAX_RATIO * compact.byteLength);
    await assertRefused(originalSize(ratio + 1n), /times as large/, "a small file of a large one");
    await assertRefused(originalSize(ratio), /sections do not make/, "the limit of that");
    await assertRefused(
      changed((_, view) => view.setBigUint64(AT.compactSize, 2n ** 40n, true)),
      /its size/,
      "a lie",
    );
    await assertRefused(
      changed((_, view) => view.setUint32(AT.sections, 65, true)),
      /the limit is 64/,
      "65 sections",
    );
    await assertRefused(
      changed((_, view) => view.setUint32(AT.sections, 64, true)),
      /./,
      "54 sections that are contents",
    );
    const error = await rejection(expandKey(compact, { maxBytes: zkey.byteLength - 1 }));
    assert.match(error.message, /the limit is/);
    assert.deepEqual(new Uint8Array(await expandKey(compact, { maxBytes: zkey.byteLength })), zkey);
  });

  it("cannot make the memory larger than their size allows", async () => {
    const asked: number[] = [];
    const expansion = {
      computePoints: async (_: number, degree: 1 | 2, packed: Uint8Array) =>
        pointsOf(await compileRoots(), degree, packed),
      maxBytes: 2 ** 31 - 1,
      allocate(bytes: number) {
        asked.push(bytes);
        return new Uint8Array(bytes);
      },
    };
    async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
      yield bytes;
    }
    const bomb = changed((_, view) => {
      view.setBigUint64(AT.originalSize, BigInt(2 ** 31 - 1), true);
      view.setBigUint64(HEADER_BYTES + 4, BigInt(2 ** 31 - 1 - zkey.byteLength + 4), true);
    });
    const expanding = expand(pieces(bomb), { ...expansion, compactSize: bomb.byteLength });
    assert.match((await rejection(expanding)).message, /times as large/);
    assert.deepEqual(asked, []);
    assert.deepEqual(await expand(pieces(compact), expansion), zkey);
    assert.deepEqual(asked, [zkey.byteLength]);
  });

  it("are refused if a point is not on its curve, or is another one", async () => {
    const program = await compileRoots();
    for (const id of [5, 6, 7, 8, 9]) {
      const degree = degreeOf(id) as 1 | 2;
      const { start, length } = sectionOf(id);
      const first = start + Math.ceil(length / (64 * degree) / 8);
      const size = 32 * degree;
      // The other y.
      const sign = changed((bytes) => {
        bytes[first + size - 1] = (bytes[first + size - 1] as number) ^ ODD;
      });
      await assertRefused(sign, /SHA-256/, `the sign in section ${id}`);
      // x that have no point, and one that has another one.
      for (let [found, change] = [0, 1]; found < 2; change++) {
        const file = changed((bytes) => {
          bytes[first] = (bytes[first] as number) ^ change;
        });
        const isOnCurve = (await pointsOf(program, degree, file.subarray(first, first + size))) !== undefined;
        if (isOnCurve && found === 1) continue;
        if (!isOnCurve) found += 1;
        await assertRefused(file, isOnCurve ? /SHA-256/ : /not on its curve/, `x in section ${id}`);
      }
      const large = changed((bytes) => bytes.fill(0x7f, first, first + size));
      await assertRefused(large, /not on its curve/, `x above the modulus in section ${id}`);
      const swapped = changed((bytes) => {
        // Some points of a key are equal.
        const own = bytes.slice(first, first + size);
        let other = first + size;
        while (bytes.subarray(other, other + size).every((byte, index) => byte === own[index])) other += size;
        bytes.copyWithin(first, other, other + size);
        bytes.set(own, other);
      });
      await assertRefused(swapped, /SHA-256/, `two points of section ${id} in the other order`);
      const infinity = new Uint8Array(first - start);
      await assertRefused(withSection(id, infinity), /SHA-256/, `only infinity in section ${id}`);
      const more = changed((bytes) => bytes.fill(0xff, start, first));
      // The toy's section 9 has eight points, none of them infinity.
      if (id !== 9)
        await assertRefused(more, /more points|cut off|not on its curve|its size/, `more points in section ${id}`);
      await assertRefused(
        withSection(id, infinity, length + 1),
        /part of a point/,
        `a part of a point in section ${id}`,
      );
    }
  });

  it("are refused if their coefficients are wrong", async () => {
    const { start, end, length } = sectionOf(4);
    const view = new DataView(compact.buffer);
    const [values, rows, signals, indices] = [0, 1, 2, 3].map((index) => view.getUint32(start + 4 * index, true)) as [
      ...[number, number, number, number],
    ];
    const fresh = compact.subarray(start + 20, start + 20 + 32 * values);
    const lists = new Uint8Array(inflateRawSync(compact.subarray(start + 20 + 32 * values, end)));
    const own = {
      fresh,
      rows: [...lists.subarray(0, rows)],
      signals: [...lists.subarray(rows, rows + signals)],
      indices: [...lists.subarray(rows + signals)],
    };
    assert.lengthOf(own.indices, indices);
    const packed = (
      change: Partial<typeof own> & { sizes?: readonly (number | undefined)[]; deflated?: Uint8Array },
    ): Uint8Array => {
      const all = { ...own, ...change };
      const deflated =
        change.deflated ?? deflateRawSync(Uint8Array.from([...all.rows, ...all.signals, ...all.indices]));
      const sizes = [all.fresh.length / 32, all.rows.length, all.signals.length, all.indices.length, deflated.length];
      const stated = sizes.map((size, index) => change.sizes?.[index] ?? size);
      return new Uint8Array(Buffer.concat([Buffer.from(Uint32Array.from(stated).buffer), all.fresh, deflated]));
    };
    assert.deepEqual(new Uint8Array(await expandKey(withSection(4, packed({})))), zkey);
    const max = 2 ** 32 - 1;
    const many = [0x81, 0x80, 0x80, 0x80, 0x10];
    const wrong: [string, RegExp, Uint8Array, number?][] = [
      ["a value too few", /a value of its coefficients is missing/, packed({ fresh: fresh.subarray(32) })],
      [
        "a value too many",
        /more coefficients/,
        packed({ fresh: new Uint8Array([...fresh, ...fresh.subarray(0, 32)]) }),
      ],
      [
        "another value",
        /SHA-256/,
        packed({ fresh: Uint8Array.from(fresh, (byte, index) => (index === 3 ? byte ^ 1 : byte)) }),
      ],
      ["more values than coefficients", /more than their section has/, packed({ sizes: [max] })],
      ["lists of 4 GiB", /more than their section has/, packed({ sizes: [undefined, max] })],
      [
        "4 GiB to decompress",
        /more than their section has/,
        packed({ sizes: [undefined, undefined, undefined, undefined, max] }),
      ],
      ["no deflated lists", /cannot be decompressed/, packed({ deflated: Uint8Array.of(0xff, 0xff) })],
      ["lists that are longer", /cannot be decompressed/, packed({ sizes: [undefined, rows - 1] })],
      ["lists that are shorter", /cannot be decompressed/, packed({ sizes: [undefined, rows + 1] })],
      [
        "a bomb",
        /cannot be decompressed/,
        packed({ deflated: deflateRawSync(new Uint8Array(10_000_000)).subarray(0, 60) }),
      ],
      ["no rows", /cut off/, packed({ rows: [] })],
      ["a row too many", /more coefficients/, packed({ rows: [...own.rows, 2, 1] })],
      ["a row without entries", /row of its coefficients/, packed({ rows: [0, 0, ...own.rows] })],
      ["a row before the first", /row of its coefficients/, packed({ rows: [1, ...own.rows.slice(1)] })],
      [
        "a row above 2^32",
        /row of its coefficients/,
        packed({ rows: [0x80, 0x80, 0x80, 0x80, 0x40, ...own.rows.slice(1)] }),
      ],
      ["a row with 2^32 entries", /row of its coefficients/, packed({ rows: [0, ...many, ...own.rows.slice(2)] })],
      ["a number of six bytes", /too large/, packed({ rows: [...many.map((byte) => byte | 128), 1, ...own.rows] })],
      ["a signal below 0", /signal of its coefficients/, packed({ signals: [1, ...own.signals.slice(1)] })],
      [
        "a signal above 2^32",
        /signal of its coefficients/,
        packed({ signals: [0x80, 0x80, 0x80, 0x80, 0x20, ...own.signals.slice(1)] }),
      ],
      ["a signal too few", /cut off/, packed({ signals: own.signals.slice(1) })],
      ["a value that is not there yet", /refers to a value/, packed({ indices: [2, ...own.indices.slice(1)] })],
      ["the negative of none", /refers to a value/, packed({ indices: [1, 0, ...own.indices.slice(1)] })],
      ["a part of a coefficient", /part of one/, packed({}), length + 1],
      ["another coefficient", /cut off/, packed({}), length + COEFFICIENT_BYTES],
      ["no coefficients", /more than their section has/, packed({}), 4],
      ["no room for their number", /part of one/, packed({}), 3],
    ];
    for (const [name, message, content, stated] of wrong)
      await assertRefused(withSection(4, content, stated), message, name);
  });

  it("are refused if they contain another key, or the same in another order", async () => {
    // Another key under the hash of this one: that of a dishonest setup, say, which reveals witnesses.
    const other = zkey.slice();
    const { a } = parseZkey(other);
    const infinite = a.findIndex((byte) => byte !== 0);
    a.fill(0, infinite - (infinite % 64), infinite - (infinite % 64) + 64);
    const otherCompact = await compactKey(other);
    assert.deepEqual(new Uint8Array(await expandKey(otherCompact)), other);
    const hash = await sha256(zkey);
    assert.deepEqual(compact.slice(AT.hash, AT.hash + 32), hash);
    const relabelled = otherCompact.slice();
    relabelled.set(hash, AT.hash);
    await assertRefused(relabelled, /SHA-256/, "another key");
    const [first, second] = [HEADER_BYTES, HEADER_BYTES + SECTION_BYTES];
    const swapped = changed((bytes) => {
      const [a, b] = [bytes.slice(first, second), bytes.slice(second, second + SECTION_BYTES)];
      bytes.set(b, first);
      bytes.set(a, second);
    });
    await assertRefused(swapped, /./, "the first two sections in the other order");
  });

  it("are decompressed up to the size that they state, and no further", async () => {
    const { getBuiltinModule } = process;
    const limits: unknown[] = [];
    const limited: typeof inflateRawSync = (bytes, options) => {
      limits.push(options?.maxOutputLength);
      return inflateRawSync(bytes, options);
    };
    const get = (name: string) => (name === "node:zlib" ? { inflateRawSync: limited } : getBuiltinModule(name));
    Object.assign(process, { getBuiltinModule: get });
    try {
      assert.isUndefined(await inflateExactly(new Uint8Array(deflateRawSync(new Uint8Array(1e7))), 60));
    } finally {
      Object.assign(process, { getBuiltinModule });
    }
    assert.deepEqual(limits, [60]);
  });

  it("are decompressed and hashed the same in a page", async () => {
    const { getBuiltinModule } = process;
    const bytes = Uint8Array.from({ length: 50_000 }, (_, index) => (index * index) >> 5);
    const deflated = new Uint8Array(deflateRawSync(bytes));
    const check = async (): Promise<void> => {
      assert.deepEqual(new Uint8Array((await inflateExactly(deflated, bytes.length)) as Uint8Array), bytes);
      for (const size of [0, 1, bytes.length - 1, bytes.length + 1])
        assert.isUndefined(await inflateExactly(deflated, size), `${size} bytes`);
      assert.isUndefined(await inflateExactly(deflated.subarray(0, 100), bytes.length));
      assert.isUndefined(await inflateExactly(Uint8Array.of(255, 255), 100));
    };
    await check();
    try {
      Object.assign(process, { getBuiltinModule: undefined });
      await check();
      assert.deepEqual(await sha256(bytes), new Uint8Array(createHash("sha256").update(bytes).digest()));
      Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
      assert.equal((await rejection(sha256(bytes))).code, "COMPACT_KEY_UNSUPPORTED");
    } finally {
      Reflect.deleteProperty(crypto, "subtle");
      Object.assign(process, { getBuiltinModule });
    }
  });
});
