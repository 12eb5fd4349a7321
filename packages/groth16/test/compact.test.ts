import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bn254 } from "@noble/curves/bn254.js";
import { randomBelow } from "@sotto/test-kit/random-below";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { withSnarkjs } from "@sotto/test-kit/with-snarkjs";
import { assert } from "chai";
import * as snarkjs from "snarkjs";
import { parseSections, parseZkey } from "../src/fast/zkey.ts";
import { compactKey, expandKey, groth16, isCompactKeyOf, type ZKArtifact } from "../src/index.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";
import { fileOf, toBytes } from "./support/sections.ts";

const CASES = process.env["SOTTO_LONG"] === "1" ? 60 : 1;
const R = 1n << 256n;

const word = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);
const below = (bound: number): number => Number(randomBelow(BigInt(bound)));

/** A file with these sections, in their order. */
const zkeyOf = (sections: readonly (readonly [number, Uint8Array])[]): Uint8Array =>
  fileOf(
    sections.map(([id, bytes]) => ({ id, bytes })),
    { magic: "zkey", version: 1 },
  );

/** Points of a few random ones: one of them, its opposite, or infinity. */
function pointSource(degree: 1 | 2): () => Uint8Array {
  const coordinates = (value: bigint) => [...toBytes((value * R) % q)];
  const encode = (): Uint8Array => {
    if (degree === 1) {
      const { x, y } = bn254.G1.Point.BASE.multiply(randomBelow(r - 1n) + 1n).toAffine();
      return Uint8Array.from([x, y].flatMap(coordinates));
    }
    const { x, y } = bn254.G2.Point.BASE.multiply(randomBelow(r - 1n) + 1n).toAffine();
    return Uint8Array.from([x.c0, x.c1, y.c0, y.c1].flatMap(coordinates));
  };
  const pool = Array.from({ length: 24 }, encode);
  // The opposite of a point has the same x.
  const opposite = (point: Uint8Array): Uint8Array => {
    const copy = point.slice();
    for (let at = 32 * degree; at < copy.length; at += 32) {
      const y = BigInt(
        `0x${Buffer.from(copy.subarray(at, at + 32))
          .reverse()
          .toString("hex")}`,
      );
      copy.set(toBytes((q - y) % q), at);
    }
    return copy;
  };
  return () => {
    const point = pool[below(pool.length)] as Uint8Array;
    const kind = below(8);
    return kind === 0 ? new Uint8Array(point.length) : kind < 4 ? opposite(point) : point;
  };
}

/** A key that no circuit has. The format must restore it too. */
function randomKey(
  header: Uint8Array,
  { g1, g2 }: { g1: () => Uint8Array; g2: () => Uint8Array },
  [variables, domainSize, entries]: readonly [number, number, number],
): Uint8Array {
  const publicSignals = below(variables - 1);
  const own = header.slice();
  for (const [offset, value] of [
    [72, variables],
    [76, publicSignals],
    [80, domainSize],
  ] as const)
    own.set(word(value), offset);
  const points = (count: number, next: () => Uint8Array) => Buffer.concat(Array.from({ length: count }, next));
  const values = Array.from({ length: 6 }, () => randomBelow(r));
  const extreme = [0n, 1n, r - 1n, r, r + 1n, R - 1n];
  const value = (): bigint => {
    const kind = below(10);
    if (kind === 0) return extreme[below(extreme.length)] as bigint;
    if (kind === 1) return randomBelow(r);
    const known = values[below(values.length)] as bigint;
    return kind < 5 ? r - known : known;
  };
  let row = 0;
  const coefficient = (): Uint8Array => {
    const kind = below(20);
    row = kind === 0 ? 2 ** 32 - 1 : kind === 1 ? 0 : (row + below(2)) % 2 ** 32;
    const signal = kind === 2 ? 2 ** 32 - 1 : below(variables);
    return Buffer.concat([word(below(2)), word(row), word(signal), toBytes(value())]);
  };
  const coefficients = Array.from({ length: entries }, coefficient);
  return zkeyOf([
    [1, word(1)],
    [2, own],
    [4, Buffer.concat([word(entries), ...coefficients])],
    [9, points(domainSize, g1)],
    [5, points(variables, g1)],
    [6, points(variables, g1)],
    [7, points(variables, g2)],
    [8, points(variables - publicSignals - 1, g1)],
    [4711, Uint8Array.from({ length: below(100_000) }, () => below(256))],
    [3, points(publicSignals + 1, g1)],
    [10, new Uint8Array(0)],
  ]);
}

describe("compact keys", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let wasm: string;
  let wtns: string;
  let zkeyPath: string;
  let zkey: Uint8Array;
  let compact: Uint8Array;
  let vkey: Record<string, unknown>;
  let header: Uint8Array;
  let folder: string;

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    [wasm, zkeyPath] = ["toy.wasm", "toy.zkey"].map((file) => join(build, "toy", file)) as [string, string];
    vkey = JSON.parse(readFileSync(join(build, "toy", "toy.vkey.json"), "utf8"));
    zkey = new Uint8Array(readFileSync(zkeyPath));
    header = parseSections(zkey).get(2) as Uint8Array;
    compact = await compactKey(zkey);
    folder = mkdtempSync(join(tmpdir(), "sotto-compact-"));
    wtns = join(folder, "toy.wtns");
    await withSnarkjs(() => snarkjs.wtns.calculate(TOY_INPUT as never, wasm, wtns));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Pieces as a download has them. */
  async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
    for (let offset = 0; offset < bytes.byteLength; offset += size) yield bytes.subarray(offset, offset + size);
  }

  it("expand to the .zkey file, byte for byte, in one piece or in many", async () => {
    assert.isBelow(compact.byteLength, zkey.byteLength * 0.7);
    assert.deepEqual(new Uint8Array(await expandKey(compact)), zkey);
    assert.deepEqual(new Uint8Array(await expandKey(Buffer.from(compact))), zkey);
    assert.deepEqual(new Uint8Array(await expandKey(compact, { singleThread: true })), zkey);
    for (const size of [1, 7, 64, 1000])
      assert.deepEqual(new Uint8Array(await expandKey(piecesOf(compact, size))), zkey);
    // The file that was packed is unchanged, also as a Buffer.
    const buffer = readFileSync(zkeyPath);
    assert.deepEqual(await compactKey(buffer), compact);
    assert.deepEqual(new Uint8Array(buffer), zkey);
  });

  it("expand to keys with any points, coefficients and further sections", async () => {
    // Variables, rows of the domain, coefficients.
    const sizes = [
      [2, 2, 0],
      [9, 8, 1],
      [1024, 1024, 700],
      [1025, 2048, 5000],
    ] as const;
    const points = { g1: pointSource(1), g2: pointSource(2) };
    for (let round = 0; round < CASES; round++)
      for (const size of sizes) {
        const key = randomKey(header, points, size);
        const packed = await compactKey(key);
        assert.isTrue(Buffer.from(await expandKey(packed)).equals(key), size.join());
        assert.isTrue(Buffer.from(await expandKey(piecesOf(packed, 1 + below(20_000)))).equals(key));
      }
  });

  it("state the hash of the key in them and their own size", () => {
    const hash = createHash("sha256").update(zkey).digest("hex");
    assert.isTrue(isCompactKeyOf(compact, hash));
    const otherVersion = compact.slice();
    otherVersion[4] = 2;
    const others = [compact.subarray(0, -1), Uint8Array.of(...compact, 0), otherVersion, zkey, new Uint8Array(0)];
    for (const other of others) assert.isFalse(isCompactKeyOf(other, hash));
    assert.isFalse(
      isCompactKeyOf(
        compact,
        hash.replace(/^./, (digit) => (digit === "0" ? "1" : "0")),
      ),
    );
  });

  it("cannot be made of a file that is not a key, or has points off their curve", async () => {
    for (const file of [new Uint8Array(0), new Uint8Array(1000), zkey.subarray(0, zkey.length - 1), compact])
      assert.equal((await rejection(compactKey(file))).code, "PROVING_KEY_INVALID");
    const { a, b2, h } = parseZkey(zkey);
    for (const points of [a, b2, h]) {
      const damaged = zkey.slice();
      const finite = points.findIndex((byte) => byte !== 0);
      const at = points.byteOffset - zkey.byteOffset + finite - (finite % (points === b2 ? 128 : 64));
      // Another y.
      damaged[at + (points === b2 ? 64 : 32)] = (damaged[at + (points === b2 ? 64 : 32)] as number) ^ 2;
      const error = await rejection(compactKey(damaged));
      assert.equal(error.code, "PROVING_KEY_INVALID");
      assert.match(error.message, /cannot be made compact/);
    }
  });

  it("are files of groth16.fullProve and prove, as paths, URLs and bytes", async () => {
    const path = join(folder, "toy.czkey");
    writeFileSync(path, compact);
    let closed = 0;
    const server = createServer((request, response) => {
      response.on("close", () => {
        closed += 1;
      });
      response.writeHead(request.url === "/key" ? 200 : 404);
      // In two pieces, of which the first is shorter than the file's first field.
      response.write(compact.subarray(0, 3));
      setTimeout(() => response.end(compact.subarray(3)), 5);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`;
    const keys: ZKArtifact[] = [path, compact, Buffer.from(compact), { type: "mem", data: compact }, url, new URL(url)];
    try {
      for (const key of [...keys, compact])
        for (const singleThread of [false, true]) {
          const { proof, publicSignals } = await groth16.fullProve(TOY_INPUT, wasm, key, { singleThread });
          assert.deepEqual(publicSignals, TOY_SIGNALS);
          assert.isTrue(await groth16.verify(vkey, publicSignals, proof));
          const again = await groth16.prove(key, wtns, { singleThread });
          assert.isTrue(await groth16.verify(vkey, TOY_SIGNALS, again.proof));
        }
      assert.equal((await rejection(groth16.fullProve(TOY_INPUT, wasm, `${url}x`))).code, "CIRCUIT_FILE_UNREADABLE");
    } finally {
      server.close();
    }
    assert.isAbove(closed, 3);
  });

  it("stop the download of a damaged key, and one that is aborted", async () => {
    const damaged = compact.slice();
    damaged[4] = 9;
    const stopped: Promise<void>[] = [];
    const server = createServer((request, response) => {
      stopped.push(new Promise((resolve) => response.on("close", () => resolve())));
      // It never ends.
      response.writeHead(200).write(request.url === "/damaged" ? damaged : compact.subarray(0, 500));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const error = await rejection(groth16.fullProve(TOY_INPUT, wasm, `${url}/damaged`));
      assert.equal(error.code, "COMPACT_KEY_INVALID");
      const aborter = new AbortController();
      const proving = rejection(groth16.fullProve(TOY_INPUT, wasm, `${url}/slow`, { signal: aborter.signal }));
      while (stopped.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      aborter.abort();
      assert.equal((await proving).code, "ABORTED");
      await Promise.all(stopped);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("are made and expanded by the program groth16", () => {
    const program = join(import.meta.dirname, "..", "dist", "main.js");
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: "utf8" });
    copyFileSync(zkeyPath, join(folder, "key.zkey"));
    const made = run("compact", "key.zkey");
    assert.equal(made.stdout, `key.czkey: ${compact.byteLength} bytes, from ${zkey.byteLength}\n`);
    assert.deepEqual(new Uint8Array(readFileSync(join(folder, "key.czkey"))), compact);
    assert.equal(run("expand", "key.czkey", "--out", "again.zkey").status, 0);
    assert.deepEqual(new Uint8Array(readFileSync(join(folder, "again.zkey"))), zkey);
    const refused: [RegExp, number, string[]][] = [
      [/key\.czkey cannot be written: EEXIST/, 2, ["compact", "key.zkey"]],
      [/missing cannot be read: ENOENT/, 2, ["compact", "missing"]],
      [/not a version 1 compact key/, 1, ["expand", "key.zkey"]],
      [/not a version 1 zkey file/, 1, ["compact", "key.czkey"]],
      [/--help/, 2, []],
      [/--help/, 2, ["toString", "key.zkey"]],
      [/--help/, 2, ["compact", "key.zkey", "again.zkey"]],
      [/Unknown option '--x'/, 2, ["compact", "key.zkey", "--x"]],
    ];
    for (const [message, status, args] of refused) {
      const result = run(...args);
      assert.match(result.stderr, message);
      assert.deepEqual([result.status, result.stdout], [status, ""], args.join(" "));
    }
    assert.match(execFileSync(process.execPath, [program, "--help"], { encoding: "utf8" }), /--out FILE/);
  });
});
