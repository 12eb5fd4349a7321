// Artifacts from a service are resumed and cached, and never have a wrong hash.

import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { assert } from "chai";
import "fake-indexeddb/auto";
import { expectRejected } from "@sotto/test-kit/rejection";
import { diskCache } from "../src/artifacts/disk-cache.ts";
import { provingKeyOf } from "../src/artifacts/load.ts";
import {
  type ArtifactCache,
  type ArtifactProgress,
  type Artifacts,
  type ArtifactsLock,
  type LoadOptions,
  loadArtifacts,
} from "../src/index.ts";
import { indexedDbCache } from "../src/indexeddb.ts";
import { cut, FileServer } from "./support/file-server.ts";

const MEBIBYTE = 1 << 20;
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
/** A proving key of 3 MiB; downloads write parts of 512 KiB to the cache. */
const KEY = randomBytes(3 * MEBIBYTE);
const SMALL = randomBytes(1_000);
const LOCK: ArtifactsLock = {
  set: "development",
  circuits: { toy: { wasm: sha256(SMALL), zkey: sha256(KEY), vkey: "0".repeat(64) } },
};

describe("artifacts from a service", () => {
  let server: FileServer;
  let service: string;
  let folder: string;
  let made = 0;
  beforeEach(async () => {
    folder = temporaryFolder("artifacts");
    server = new FileServer(new Map([KEY, SMALL].map((bytes) => [sha256(bytes), bytes])));
    service = await server.listen();
  });
  afterEach(async () => {
    await server.close();
  });

  const load = (options: Partial<LoadOptions> = {}): Promise<Artifacts> =>
    loadArtifacts({ service, lock: LOCK, ...options });
  /** The caches with which each test runs: a folder, and a fresh database. */
  const caches: [string, () => ArtifactCache | string][] = [
    ["a folder", () => join(folder, "cache")],
    ["IndexedDB", () => indexedDbCache(`cache-${made++}`)],
  ];
  const keyOf = async (artifacts: Artifacts): Promise<Buffer> => Buffer.from(await artifacts.bytes("toy", "zkey"));

  it("are fetched by their hash, with progress", async () => {
    const seen: ArtifactProgress[] = [];
    const artifacts = await load({ onProgress: (progress) => seen.push(progress) });
    assert.isTrue((await keyOf(artifacts)).equals(KEY));
    assert.deepEqual(seen[0], { circuit: "toy", kind: "zkey", received: 0, total: KEY.length });
    assert.deepEqual(seen.at(-1), { circuit: "toy", kind: "zkey", received: KEY.length, total: KEY.length });
    assert.isTrue(seen.every(({ received }, i) => i === 0 || received >= seen[i - 1]!.received));
  });

  it("accept a service URL with a trailing slash, and reject invalid URLs", async () => {
    assert.isTrue((await keyOf(await load({ service: `${service}/` }))).equals(KEY));
    for (const bad of ["", "zk", "ftp://x.example", "https://user@x.example", "https://x.example/?a"])
      await expectRejected("ARTIFACTS_SOURCE_INVALID", () => load({ service: bad }));
    await expectRejected("ARTIFACTS_SOURCE_INVALID", () => load({ baseUrl: "https://x.example" }));
  });

  for (const [name, create] of caches) {
    it(`are kept in ${name}`, async () => {
      const cache = create();
      assert.isTrue((await keyOf(await load({ cache }))).equals(KEY));
      await server.close();
      const again = await load({ cache });
      assert.isTrue((await keyOf(again)).equals(KEY));
      assert.isTrue(Buffer.from(await provingKeyOf(again, "toy")).equals(KEY));
      assert.deepEqual(server.ranges, [""]);
    });

    it(`resume a download that another process started, from ${name}`, async () => {
      const cache = create();
      const ending = new AbortController();
      server.hook = (_, response, bytes) => {
        response.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, MEBIBYTE), () => {});
        return true;
      };
      const first = await load({
        cache,
        signal: ending.signal,
        onProgress: ({ received }) => received >= MEBIBYTE && ending.abort(),
      });
      await expectRejected("ABORTED", () => first.bytes("toy", "zkey"));
      server.hook = () => false;
      const seen: number[] = [];
      const second = await load({ cache, onProgress: ({ received }) => seen.push(received) });
      assert.isTrue((await keyOf(second)).equals(KEY));
      assert.deepEqual(server.ranges, ["", `bytes=${MEBIBYTE}-`]);
      assert.equal(seen[0], MEBIBYTE);
    });

    it(`restart if the part in ${name} belongs to another file`, async () => {
      const cache = create();
      const entries = typeof cache === "string" ? undefined : cache;
      const file = `${sha256(KEY)}.zkey`;
      const wrong = randomBytes(MEBIBYTE);
      if (entries !== undefined) await entries.writePart(file, 0, wrong);
      else {
        mkdirSync(join(folder, "cache"));
        writeFileSync(join(folder, "cache", `${file}.part`), wrong);
      }
      assert.isTrue((await keyOf(await load({ cache }))).equals(KEY));
      assert.deepEqual(server.ranges, [`bytes=${MEBIBYTE}-`, ""]);
    });

    it(`are downloaded again if the file in ${name} is damaged`, async () => {
      const cache = create();
      await (await load({ cache })).bytes("toy", "wasm");
      const file = `${sha256(SMALL)}.wasm`;
      if (typeof cache === "string") writeFileSync(join(cache, file), randomBytes(SMALL.length));
      else await cache.write(file, randomBytes(SMALL.length));
      const errors: Error[] = [];
      const bytes = await (await load({ cache, onCacheError: (error) => errors.push(error) })).bytes("toy", "wasm");
      assert.isTrue(SMALL.equals(bytes));
      await server.close();
      assert.isTrue(SMALL.equals(await (await load({ cache })).bytes("toy", "wasm")));
      assert.deepEqual(errors, []);
    });

    it(`are shared by concurrent downloads into ${name}`, async () => {
      const cache = create();
      const all = await Promise.all(Array.from({ length: 4 }, async () => keyOf(await load({ cache }))));
      assert.isTrue(all.every((bytes) => bytes.equals(KEY)));
      await server.close();
      assert.isTrue((await keyOf(await load({ cache }))).equals(KEY));
    });
  }

  it("are readable only by their owner, and written atomically", async () => {
    await keyOf(await load({ cache: join(folder, "cache") }));
    assert.deepEqual(readdirSync(join(folder, "cache")), [`${sha256(KEY)}.zkey`]);
    assert.equal(statSync(join(folder, "cache")).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, "cache", `${sha256(KEY)}.zkey`)).mode & 0o777, 0o600);
  });

  it("resume after a broken connection within one call", async () => {
    const ends = [700_000, 1_500_000];
    server.hook = (request, response, bytes) => {
      const end = ends.shift();
      const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
      return end !== undefined && cut(response, bytes, from, end);
    };
    assert.isTrue((await keyOf(await load())).equals(KEY));
    assert.deepEqual(server.ranges, ["", "bytes=700000-", "bytes=1500000-"]);
  });

  it("resume if the server closes a connection early as if the file were complete", async () => {
    server.hook = (request, response, bytes) => {
      if (request.headers.range !== undefined) return false;
      response.end(bytes.subarray(0, MEBIBYTE));
      return true;
    };
    assert.isTrue((await keyOf(await load())).equals(KEY));
    assert.deepEqual(server.ranges, ["", `bytes=${MEBIBYTE}-`]);
  });

  it("restart if the server ignores the range or refuses it", async () => {
    for (const status of [200, 416]) {
      server.ranges.length = 0;
      server.hook = (request, response, bytes) => {
        if (server.ranges.length === 1) return cut(response, bytes, 0, 1_000_000);
        if (request.headers.range === undefined || status === 200) response.end(bytes);
        else response.writeHead(416).end();
        return true;
      };
      assert.isTrue((await keyOf(await load())).equals(KEY));
      assert.deepEqual(server.ranges.slice(0, 2), ["", "bytes=1000000-"]);
    }
  });

  it("restart if the server sends another range", async () => {
    server.hook = (request, response, bytes) => {
      if (server.ranges.length === 1) return cut(response, bytes, 0, 1_000_000);
      if (request.headers.range === undefined) return false;
      response
        .writeHead(206, { "content-range": `bytes 5-${bytes.length - 1}/${bytes.length}` })
        .end(bytes.subarray(5));
      return true;
    };
    assert.isTrue((await keyOf(await load())).equals(KEY));
    assert.deepEqual(server.ranges, ["", "bytes=1000000-", ""]);
  });

  it("wait as long as a busy server says, and retry", async () => {
    server.hook = (_, response) => {
      if (server.ranges.length > 2) return false;
      response.writeHead(server.ranges.length === 1 ? 429 : 503, { "retry-after": "1" }).end();
      return true;
    };
    assert.isTrue((await keyOf(await load())).equals(KEY));
    assert.lengthOf(server.ranges, 3);
  });

  it("are never used or cached if their hash is wrong", async () => {
    const cache = join(folder, "cache");
    const changed = Buffer.from(KEY);
    changed[5] = (changed[5] ?? 0) ^ 1;
    server.hook = (request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
      if (from > 0) response.writeHead(206).end(changed.subarray(from));
      else response.end(changed);
      return true;
    };
    const artifacts = await load({ cache });
    const { details } = await expectRejected("ARTIFACT_CHANGED", () => artifacts.bytes("toy", "zkey"));
    assert.equal(details["file"], `${service}/artifacts/${sha256(KEY)}`);
    assert.equal(details["found"], sha256(changed));
    assert.deepEqual(existsSync(cache) ? readdirSync(cache) : [], []);
    server.hook = () => false;
    assert.isTrue((await keyOf(artifacts)).equals(KEY));
  });

  it("report the name of the service's set if that set lacks a file", async () => {
    const lock = { ...LOCK, circuits: { toy: { ...LOCK.circuits["toy"]!, zkey: "1".repeat(64) } } };
    const { message } = await expectRejected("ARTIFACT_MISSING", async () =>
      (await load({ lock })).bytes("toy", "zkey"),
    );
    assert.include(message, "the service has the set development, which lacks toy/toy.zkey");
    assert.deepEqual(server.ranges, []);
  });

  it("stop at their size limit, even if the server announces a smaller size", async () => {
    const { details } = await expectRejected("ARTIFACT_TOO_LARGE", async () =>
      (await load({ maxBytes: { zkey: MEBIBYTE } })).bytes("toy", "zkey"),
    );
    assert.equal(details["maxBytes"], MEBIBYTE);
    assert.deepEqual(server.ranges, []);
    let sent = 0;
    server.hook = (_, response) => {
      const write = () => {
        while (response.writable && sent < 256 * MEBIBYTE && response.write(Buffer.alloc(1 << 16))) sent += 1 << 16;
        sent += 1 << 16;
        if (sent >= 256 * MEBIBYTE) response.end();
      };
      response.on("drain", write);
      write();
      return true;
    };
    await expectRejected("ARTIFACT_TOO_LARGE", async () => (await load()).bytes("toy", "wasm"));
    assert.isBelow(sent, 64 * MEBIBYTE);
  });

  it("stop downloading when the caller aborts", async () => {
    const ending = new AbortController();
    server.hook = () => {
      ending.abort();
      return true;
    };
    const artifacts = await load({ signal: ending.signal });
    await expectRejected("ABORTED", () => artifacts.bytes("toy", "zkey"));
    await expectRejected("ABORTED", () => artifacts.bytes("toy", "wasm"));
  });

  it("do not follow a redirect of the service", async () => {
    server.hook = (_, response) => {
      response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
      return true;
    };
    await expectRejected("ARTIFACT_UNREACHABLE", async () => (await load()).bytes("toy", "wasm"));
  });

  describe("without a usable cache", () => {
    const errorsOf = async (cache: string | ArtifactCache) => {
      const errors: Error[] = [];
      const artifacts = await load({ cache, onCacheError: (error) => errors.push(error) });
      assert.isTrue((await keyOf(artifacts)).equals(KEY));
      return errors;
    };
    const reading = async (cache: string | ArtifactCache) =>
      (await errorsOf(cache)).map((error) => {
        const { code, details } = error as Error & { code: string; details: Record<string, unknown> };
        return `${code} ${String(details["reason"])}`;
      });

    it("are used if the disk is full", async () => {
      const disk = diskCache(join(folder, "full"));
      const full = async () => {
        // Every write to this device fails as on a full disk.
        writeFileSync("/dev/full", "x");
      };
      const cache: ArtifactCache = {
        location: disk.location,
        read: (name, maxBytes) => disk.read(name, maxBytes),
        readPart: (name, maxBytes) => disk.readPart(name, maxBytes),
        write: full,
        writePart: full,
        remove: (name) => disk.remove(name),
      };
      assert.deepEqual(await reading(cache), ["ARTIFACT_CACHE_FAILED ENOSPC"]);
      assert.deepEqual(server.ranges, [""]);
    });

    for (const there of [true, false])
      it(`are used if a part is a link to a file that ${there ? "exists, which stays as it is" : "does not exist"}`, async () => {
        const cache = join(folder, "linked");
        const target = join(folder, "target");
        const part = join(cache, `${sha256(KEY)}.zkey.part`);
        mkdirSync(cache);
        if (there) writeFileSync(target, "precious");
        symlinkSync(target, part);
        const [error, ...others] = await errorsOf(cache);
        assert.deepEqual(others, []);
        assert.equal(
          error?.message,
          `The artifacts' cache ${cache} cannot be used (SYMBOLIC_LINK: ${part} is a symbolic link, which is not followed; ` +
            "remove it); the download is not kept.",
        );
        assert.equal(existsSync(target) && readFileSync(target, "utf8"), there && "precious");
      });

    it("are used if the cache folder is not writable", async () => {
      // No user can create a folder in the kernel's virtual file system.
      const [error, ...others] = await reading("/sys/sotto");
      assert.match(error ?? "", /^ARTIFACT_CACHE_FAILED (EPERM|EACCES|EROFS)$/);
      assert.deepEqual(others, []);
    });

    it("are used if the cache path is a file", async () => {
      const cache = join(folder, "file");
      writeFileSync(cache, "");
      assert.deepEqual(await reading(cache), ["ARTIFACT_CACHE_FAILED EEXIST"]);
    });
  });

  it("stop after 15 minutes, even while bytes are arriving", async () => {
    const { now } = Date;
    try {
      const artifacts = await load({
        onProgress: ({ received }) => {
          if (received > 0) Date.now = () => now() + 16 * 60_000;
        },
      });
      await expectRejected("ARTIFACT_UNREACHABLE", async () => (await artifacts.bytes("toy", "zkey")).length);
      assert.lengthOf(server.ranges, 1);
    } finally {
      Date.now = now;
    }
  });

  it("leave no gap in a part if another process completed the file meanwhile", async () => {
    const cache = join(folder, "cache");
    const part = join(cache, `${sha256(KEY)}.zkey.part`);
    let removed = false;
    server.hook = (request, response, bytes) => {
      if (request.headers.range === undefined) return cut(response, bytes, 0, 2 * MEBIBYTE);
      response.destroy();
      return true;
    };
    const artifacts = await load({
      cache,
      onProgress: ({ received }) => {
        if (removed || received < MEBIBYTE) return;
        removed = true;
        rmSync(part);
      },
    });
    await expectRejected("ARTIFACT_UNREACHABLE", () => artifacts.bytes("toy", "zkey"));
    assert.isTrue(removed);
    assert.equal(statSync(part).size, 0);
  });
});
