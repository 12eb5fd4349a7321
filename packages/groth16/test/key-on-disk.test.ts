// Proving keys in files, of which each thread reads the parts that it needs.
import { execFileSync } from "node:child_process";
import fs, {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { engineOfFiles, type KeyFile } from "../src/engine/fast-engine.ts";
import { type FilePlace, KeyOnDisk, stampOf } from "../src/engine/key-on-disk.ts";
import type { Request } from "../src/engine/second-thread.ts";
import { areInMemory } from "../src/fast/key-bytes.ts";
import { COORDINATE_BYTES } from "../src/fast/layout.ts";
import { exportPoints } from "../src/fast/points.ts";
import { compilePrograms } from "../src/fast/programs.ts";
import { prepareKey } from "../src/fast/proving-key.ts";
import { parseZkey } from "../src/fast/zkey.ts";
import {
  type CircuitVerifier,
  createCircuitVerifier,
  encodeProof,
  type ProvingEngine,
  parseVerificationKey,
} from "../src/index.ts";
import { createWitnessCalculator } from "../src/witness/calculator.ts";
import { verificationKeyOf } from "../src/zkey-verification-key.ts";
import { fileOf, sectionsOf } from "./support/sections.ts";
import { toyFiles } from "./support/toy-files.ts";

/** A key's file, as it is now. */
function onDisk(path: string, changes: Partial<FilePlace> = {}): KeyOnDisk {
  const stat = statSync(path, { bigint: true });
  return new KeyOnDisk({ path, name: path, byteLength: Number(stat.size), stamp: stampOf(stat), ...changes });
}

/** Calls an action before each read of this thread, with the number of earlier reads. */
async function beforeReads<T>(act: (earlier: number) => void, run: () => Promise<T>): Promise<T> {
  const { readSync } = fs;
  let earlier = 0;
  fs.readSync = ((...given: Parameters<typeof readSync>) => {
    act(earlier++);
    return readSync(...given);
  }) as typeof readSync;
  try {
    return await run();
  } finally {
    fs.readSync = readSync;
  }
}

describe("proving keys in files", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let folder: string;
  let zkey: Uint8Array;
  let witness: Uint8Array;
  let verifier: CircuitVerifier;

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    const files = toyFiles(build, parseVerificationKey);
    zkey = new Uint8Array(readFileSync(join(build, "toy", "toy.zkey")));
    witness = await (await createWitnessCalculator("toy", await files.wasm())).calculate(TOY_INPUT);
    verifier = createCircuitVerifier(await files.verificationKey());
    folder = mkdtempSync(join(tmpdir(), "sotto-key-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  const isValid = async (engine: ProvingEngine<KeyFile>, key: KeyFile): Promise<boolean> =>
    verifier.verify(encodeProof(await engine.prove(key, witness)), TOY_SIGNALS);

  const written = (name: string, bytes: Uint8Array = zkey): string => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    // Before Linux 6.13, two changes in the same tick of up to 10 ms leave the same times.
    utimesSync(path, 0, 0);
    return path;
  };

  it("are not sent to the other thread, which reads them itself", async () => {
    const sent: unknown[] = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (this: Worker, message: Request) {
      if ("prepare" in message) sent.push(message.prepare.zkey);
      postMessage.call(this, message);
    };
    const key = onDisk(written("sent.zkey"));
    try {
      const engine = engineOfFiles({});
      assert.isTrue(await isValid(engine, key));
      assert.isTrue(await isValid(engine, key));
    } finally {
      Worker.prototype.postMessage = postMessage;
    }
    assert.deepEqual(sent, [key.place]);
  });

  it("are not read again for later proofs, even if they are gone", async () => {
    const path = written("later.zkey");
    const [engine, key] = [engineOfFiles({ singleThread: true }), onDisk(path)];
    assert.isTrue(await isValid(engine, key));
    rmSync(path);
    assert.isTrue(await isValid(engine, key));
  });

  it("contain the same as their bytes", async () => {
    const [inFile, inMemory] = [parseZkey(onDisk(written("same.zkey"))), parseZkey(zkey)];
    for (const [name, expected] of Object.entries(inMemory)) {
      if (typeof expected === "function") continue;
      const found = inFile[name as keyof typeof inMemory] as typeof expected;
      if (typeof found === "number" || areInMemory(found as KeyFile)) assert.deepEqual(found, expected, name);
      else {
        const part = found as Exclude<typeof found, number | Uint8Array>;
        const copy = new Uint8Array(part.byteLength);
        part.read(copy, 0);
        assert.deepEqual(copy, expected as Uint8Array, name);
        // From any offset.
        const end = new Uint8Array(5);
        part.read(end, part.byteLength - 5);
        assert.deepEqual(end, copy.slice(-5), name);
      }
    }
    assert.deepEqual(inFile.ic(), inMemory.ic());
    assert.deepEqual(await verificationKeyOf(onDisk(join(folder, "same.zkey"))), await verificationKeyOf(zkey));
  });

  it("may be larger than a piece that is read at once", async () => {
    // A section of 80,000 bases, of which every third is at infinity: 5 MB, in three pieces.
    const count = 80_000;
    const ofToy = parseZkey(zkey);
    const known = Array.from({ length: ofToy.h.byteLength / 64 }, (_, index) =>
      ofToy.h.slice(64 * index, 64 * index + 64),
    );
    const base = (index: number): Uint8Array =>
      index % 3 === 0 ? new Uint8Array(64) : (known[index % known.length] as Uint8Array);
    const a = new Uint8Array(64 * count);
    for (let index = 0; index < count; index++) a.set(base(index), 64 * index);
    const path = written("large", a);
    for (const section of [a, onDisk(path)]) {
      const { curve, bases } = await prepareKey({ ...ofToy, a: section }, ["a"], await compilePrograms());
      const found = bases.a!;
      const kept = Array.from({ length: count }, (_, index) => index).filter((index) => index % 3 !== 0);
      assert.equal(found.count, kept.length);
      assert.deepEqual([...curve.words(found.indices, found.count)], kept);
      const addresses = kept.map((_, index) => found.points + index * 2 * COORDINATE_BYTES);
      const points = Buffer.from(exportPoints(curve, 1, addresses));
      assert.isTrue(points.equals(Buffer.concat(kept.map(base))));
    }
    // A number that is too large is found in the last piece too.
    a.fill(0xff, a.byteLength - 32);
    for (const section of [a, onDisk(written("large", a))])
      await expectRejected("PROVING_KEY_INVALID", async () =>
        prepareKey({ ...ofToy, a: section }, ["a"], await compilePrograms()),
      );
  });

  for (const singleThread of [true, false]) {
    const threads = singleThread ? "one thread" : "two threads";
    const engine = () => engineOfFiles({ singleThread });
    const refuse = async (key: KeyOnDisk, reason: RegExp): Promise<void> => {
      const error = await expectRejected("CIRCUIT_FILE_UNREADABLE", () => engine().prove(key, witness));
      assert.match(error.message, reason);
      assert.deepEqual(error.details, { kind: "proving key" });
    };

    it(`${threads}: are refused if they are damaged, with the code that their bytes have`, async () => {
      const start = { magic: "zkey", version: 1 };
      const sections = sectionsOf(zkey);
      const damaged: Record<string, Uint8Array> = {
        empty: new Uint8Array(0),
        "eleven bytes": zkey.slice(0, 11),
        "cut in a section's header": zkey.slice(0, 20),
        "cut in a section": zkey.slice(0, -1),
        "a section too few": fileOf(sections.slice(0, 8), start),
        "4,294,967,295 sections": fileOf(sections, { ...start, count: 0xffff_ffff }),
        "65 sections": fileOf(
          [
            ...sections,
            ...Array.from({ length: 65 - sections.length }, (_, id) => ({ id: 100 + id, bytes: zkey.slice(0, 0) })),
          ],
          start,
        ),
        "a section of 2^63 bytes": fileOf(
          sections.map((section) => (section.id === 5 ? { ...section, length: 2n ** 63n } : section)),
          start,
        ),
        "a coordinate that is not below the field's order": fileOf(
          sections.map(({ id, bytes }) => (id === 9 ? { id, bytes: bytes.fill(0xff, 0, 32) } : { id, bytes })),
          start,
        ),
      };
      for (const [name, bytes] of Object.entries(damaged)) {
        const key = onDisk(written("damaged.zkey", bytes));
        for (const each of [bytes, key]) {
          const error = await expectRejected("PROVING_KEY_INVALID", () => engine().prove(each, witness));
          assert.notInclude(error.message, "undefined", name);
        }
      }
      assert.isTrue(await isValid(engine(), onDisk(written("damaged.zkey"))));
    });

    it(`${threads}: are refused if they are gone, or another file, or shorter`, async () => {
      const path = written("gone.zkey");
      const key = onDisk(path);
      rmSync(path);
      await refuse(key, /gone\.zkey: ENOENT/);
      await refuse(onDisk(folder, { byteLength: zkey.byteLength }), /EISDIR/);
      execFileSync("mkfifo", [path]);
      await refuse(key, /gone\.zkey: it changed while it was read/);
      rmSync(path);
      // The same bytes, but another file.
      const replaced = onDisk(written("replaced.zkey"));
      renameSync(written("other.zkey"), replaced.place.path);
      await refuse(replaced, /it changed/);
      const shorter = onDisk(written("shorter.zkey"));
      truncateSync(shorter.place.path, 5000);
      await refuse(shorter, /it changed/);
      const named = { ...replaced.place, name: undefined };
      const error = await expectRejected("CIRCUIT_FILE_UNREADABLE", () =>
        engine().prove(new KeyOnDisk(named), witness),
      );
      assert.notInclude(inspect(error, { depth: 9, showHidden: true }), "replaced.zkey");
    });

    it(`${threads}: never make a wrong proof if they change while they are read`, async () => {
      // Two bases of public signals change places.
      const other = zkey.slice();
      const { a } = parseZkey(other);
      a.copyWithin(64, 128, 192);
      a.set(parseZkey(zkey).a.subarray(64, 128), 128);
      assert.notDeepEqual(other, zkey);
      const control = onDisk(written("reads.zkey"));
      let reads = 0;
      assert.isTrue(
        await beforeReads(
          () => void reads++,
          () => isValid(engine(), control),
        ),
      );
      assert.isAbove(reads, 8);
      for (let moment = 0; moment < reads; moment++) {
        const key = onDisk(written(`changes-${moment}.zkey`));
        const change = (earlier: number): void => {
          if (earlier === moment) writeFileSync(key.place.path, other);
        };
        const error = await beforeReads(change, () =>
          expectRejected("CIRCUIT_FILE_UNREADABLE", () => engine().prove(key, witness)),
        );
        assert.match(error.message, /it changed while it was read/);
        // The file is usable as it is now, which is another key.
        const again = onDisk(key.place.path);
        assert.isFalse(await isValid(engine(), again));
      }
    });
  }
});
