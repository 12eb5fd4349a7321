// Proving keys in compact form: downloaded on slow lines only, and never another key than the lock names.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expandKey } from "@sotto/groth16";
import { expectRejected } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { assert } from "chai";
import { provingKeyOf } from "../src/artifacts/load.ts";
import {
  type ArtifactProgress,
  type ArtifactsLock,
  createProver,
  type LoadOptions,
  loadArtifacts,
} from "../src/index.ts";
import { cut, FileServer } from "./support/file-server.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const BUILT = join(import.meta.dirname, "../../../circuits/build");
const read = (circuit: string, kind: string): Buffer => readFileSync(join(BUILT, circuit, `${circuit}.${kind}`));
const [KEY, COMPACT] = [read("elgamal_range", "zkey"), read("elgamal_range", "czkey")];
const [KEY_HASH, COMPACT_HASH] = [sha256(KEY), sha256(COMPACT)];
const OTHERS = [read("elgamal_range", "wasm"), read("elgamal_range", "vkey.json")];
const [WASM_HASH = "", VKEY_HASH = ""] = OTHERS.map(sha256);
const LOCK: ArtifactsLock = {
  set: "development",
  circuits: { toy: { wasm: WASM_HASH, zkey: KEY_HASH, vkey: VKEY_HASH } },
};
const [PIECE_BYTES, PIECE_MS] = [32_768, 12];

/** Sends a file at about 22 Mbit/s. */
function slowly(response: ServerResponse, bytes: Buffer, from = 0): true {
  const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
  const length = bytes.length - from;
  response.writeHead(from === 0 ? 200 : 206, { "content-length": length, ...(from > 0 && { "content-range": range }) });
  const send = async (): Promise<void> => {
    for (let offset = from; offset < bytes.length && !response.destroyed; offset += PIECE_BYTES) {
      response.write(bytes.subarray(offset, offset + PIECE_BYTES));
      await sleep(PIECE_MS);
    }
    response.end();
  };
  void send();
  return true;
}

describe("compact proving keys from a service", () => {
  let server: FileServer;
  let service: string;
  let folder: string;
  /** Serves these bytes as the compact form of the key. */
  const serve = async (compact: Buffer): Promise<void> => {
    const files = [KEY, compact, ...OTHERS];
    server = new FileServer(new Map(files.map((bytes) => [sha256(bytes), bytes])));
    server.kinds = { [KEY_HASH]: "zkey", [sha256(compact)]: "czkey" };
    server.hook = (_, response, bytes) => slowly(response, bytes);
    service = await server.listen();
  };
  beforeEach(async () => {
    folder = temporaryFolder("compact");
    await serve(COMPACT);
  });
  afterEach(() => server.close());

  const load = async (options: Partial<LoadOptions> = {}): Promise<Buffer> => {
    const artifacts = await loadArtifacts({ service, lock: LOCK, cache: folder, ...options });
    return Buffer.from(await provingKeyOf(artifacts, "toy", expandKey));
  };

  it("are downloaded on a slow line, and kept expanded", async () => {
    const seen: ArtifactProgress[] = [];
    assert.isTrue((await load({ onProgress: (progress) => seen.push(progress) })).equals(KEY));
    assert.deepEqual(server.asked, [COMPACT_HASH]);
    assert.deepEqual(seen.at(-1), { circuit: "toy", kind: "zkey", received: COMPACT.length, total: COMPACT.length });
    assert.isTrue((await load()).equals(KEY));
    assert.deepEqual(server.asked, [COMPACT_HASH]);
    assert.lengthOf(readdirSync(folder), 1);
    assert.isTrue(readFileSync(join(folder, readdirSync(folder)[0] as string)).equals(KEY));
  });

  it("are what a prover asks for", async () => {
    const artifacts = await loadArtifacts({ service, lock: LOCK });
    const prover = createProver({ artifacts });
    await prover.load("toy");
    assert.includeMembers(server.asked, [COMPACT_HASH, WASM_HASH, VKEY_HASH]);
    assert.notInclude(server.asked, KEY_HASH);
    await prover.close();
  });

  it("are left for the .zkey file on a fast line", async () => {
    server.hook = () => false;
    const { now } = performance;
    // A machine under load would be slow.
    performance.now = () => 0;
    try {
      assert.isTrue((await load()).equals(KEY));
    } finally {
      performance.now = now;
    }
    assert.deepEqual(server.asked, [COMPACT_HASH, KEY_HASH]);
    assert.lengthOf(readdirSync(folder), 1);
  });

  it("are not downloaded for the .zkey file's bytes, nor if an earlier run left a part of that file", async () => {
    const artifacts = await loadArtifacts({ service, lock: LOCK });
    assert.isTrue(Buffer.from(await artifacts.bytes("toy", "zkey")).equals(KEY));
    assert.deepEqual(server.asked.splice(0), [KEY_HASH]);
    const controller = new AbortController();
    const onProgress = ({ received }: ArtifactProgress) => received > 600_000 && controller.abort();
    const broken = await loadArtifacts({ service, lock: LOCK, cache: folder, signal: controller.signal, onProgress });
    await expectRejected("ABORTED", () => broken.bytes("toy", "zkey"));
    server.hook = () => false;
    assert.isTrue((await load()).equals(KEY));
    assert.deepEqual(server.asked, [KEY_HASH, KEY_HASH]);
    assert.match(server.ranges.at(-1) as string, /^bytes=[1-9]/);
  });

  it("are completed after an interruption, by the same run and by a later one", async () => {
    server.hook = (_, response, bytes) => {
      server.hook = (_request, later, all) => slowly(later, all, 100_000);
      return cut(response, bytes, 0, 100_000);
    };
    assert.isTrue((await load()).equals(KEY));
    assert.deepEqual(server.asked.splice(0), [COMPACT_HASH, COMPACT_HASH]);
    assert.deepEqual(server.ranges.splice(0), ["", "bytes=100000-"]);

    const another = { cache: temporaryFolder("compact") };
    const controller = new AbortController();
    const onProgress = ({ received }: ArtifactProgress) => received > 200_000 && controller.abort();
    server.hook = (_, response, bytes) => slowly(response, bytes);
    await expectRejected("ABORTED", () => load({ ...another, signal: controller.signal, onProgress }));
    assert.deepEqual(server.ranges.splice(0), [""]);
    server.hook = (request, response, bytes) =>
      slowly(response, bytes, Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0));
    assert.isTrue((await load(another)).equals(KEY));
    assert.match(server.ranges[0] as string, /^bytes=[1-9]/);
    assert.isTrue(server.asked.every((hash) => hash === COMPACT_HASH));
  });

  it("are downloaded again from the first byte if the server sends no ranges", async () => {
    server.hook = (_, response, bytes) => {
      server.hook = (_request, later, all) => slowly(later, all);
      return cut(response, bytes, 0, 100_000);
    };
    assert.isTrue((await load()).equals(KEY));
    assert.deepEqual(server.asked, [COMPACT_HASH, COMPACT_HASH]);
  });

  it("are not used if they expand to another key, are damaged or too large, and leave nothing in the cache", async () => {
    const other = read("origin", "czkey");
    const damaged = Buffer.from(COMPACT);
    damaged[300_000] = (damaged[300_000] as number) ^ 1;
    for (const compact of [other, damaged, Buffer.from("no key"), Buffer.alloc(0)]) {
      await server.close();
      await serve(compact);
      server.hook = (_, response, bytes) => (bytes.equals(KEY) ? false : slowly(response, bytes));
      const options = { cache: temporaryFolder("compact"), maxBytes: { zkey: 2 << 20 } };
      assert.isTrue((await load(options)).equals(KEY));
      assert.deepEqual(server.asked, [sha256(compact), KEY_HASH]);
      assert.lengthOf(readdirSync(options.cache), 1);
    }
    await server.close();
    await serve(Buffer.alloc(3 << 20));
    assert.isTrue((await load({ maxBytes: { zkey: 2 << 20 } })).equals(KEY));
    assert.deepEqual(server.asked, [KEY_HASH]);
  });

  it("leave one part in the cache, although the service has another compact key later", async () => {
    const damaged = Buffer.from(COMPACT);
    damaged[300_000] = (damaged[300_000] as number) ^ 1;
    await server.close();
    await serve(damaged);
    const controller = new AbortController();
    const onProgress = ({ received }: ArtifactProgress) => received > 400_000 && controller.abort();
    await expectRejected("ABORTED", () => load({ signal: controller.signal, onProgress }));
    assert.deepEqual(readdirSync(folder), [`${KEY_HASH}.czkey.part`]);
    await server.close();
    await serve(COMPACT);
    server.hook = (request, response, bytes) =>
      slowly(response, bytes, Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0));
    assert.isTrue((await load()).equals(KEY));
    assert.deepEqual(server.asked, [COMPACT_HASH, COMPACT_HASH]);
    assert.match(server.ranges[0] as string, /^bytes=[1-9]/);
    assert.equal(server.ranges[1], "");
    assert.deepEqual(readdirSync(folder), [`${KEY_HASH}.zkey`]);
  });

  it("are not used if the server refuses them, but waited for if it is busy", async () => {
    for (const status of [403, 404, 500]) {
      server.hook = (_, response, bytes) => {
        if (bytes.equals(COMPACT)) response.writeHead(status).end();
        return bytes.equals(COMPACT);
      };
      assert.isTrue((await load({ cache: temporaryFolder("compact") })).equals(KEY));
      assert.deepEqual(server.asked.splice(0), [COMPACT_HASH, KEY_HASH], String(status));
    }
    server.hook = (_, response) => {
      server.hook = (_request, later, bytes) => slowly(later, bytes);
      response.writeHead(503).end();
      return true;
    };
    assert.isTrue((await load()).equals(KEY));
    assert.deepEqual(server.asked, [COMPACT_HASH, COMPACT_HASH]);
  });

  it("are not used where no kernel can expand them", async () => {
    const artifacts = await loadArtifacts({ service, lock: LOCK });
    const key = await provingKeyOf(artifacts, "toy", async () => {
      throw new Error("no SIMD");
    });
    assert.isTrue(Buffer.from(key).equals(KEY));
    assert.deepEqual(server.asked, [COMPACT_HASH, KEY_HASH]);
  });
});
