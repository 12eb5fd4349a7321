import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, copyToy, TOY_INPUT, toyLock } from "@sotto/test-kit/toy";
import { twistPoint } from "@sotto/test-kit/twist-points";
import { assert } from "chai";
import { provingKeyOf } from "../src/artifacts/load.ts";
import {
  ARTIFACT_SETS,
  type Artifacts,
  type ArtifactsLock,
  createProver,
  type LoadOptions,
  loadArtifacts,
  lockOf,
} from "../src/index.ts";

describe("artifacts", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let build: string;
  let lock: ArtifactsLock;
  const copies: string[] = [];
  const copy = (): string => {
    const folder = copyToy(build);
    copies.push(folder);
    return folder;
  };

  before(async () => {
    build = await buildToy(import.meta.dirname);
    lock = toyLock(build);
  });

  after(() => {
    for (const folder of copies) rmSync(folder, { recursive: true, force: true });
  });

  it("are read from a folder, with the name of their set", async () => {
    const artifacts = await loadArtifacts({ folder: `${build}/`, lock });
    assert.equal(artifacts.set, "development");
    assert.deepEqual(artifacts.circuits, ["toy"]);
    assert.deepEqual(Buffer.from(await artifacts.bytes("toy", "wasm")), readFileSync(join(build, "toy", "toy.wasm")));
    assert.equal((await artifacts.verificationKey("toy")).nPublic, 2);
  });

  it("are in memory that WebCrypto accepts", async () => {
    const artifacts = await loadArtifacts({ folder: build, lock });
    for (const kind of ["wasm", "zkey", "vkey"] as const) {
      const bytes = (await artifacts.bytes("toy", kind)) as Uint8Array<ArrayBuffer>;
      const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes));
      assert.equal(digest.toString("hex"), lock.circuits["toy"]?.[kind]);
    }
  });

  it("give the prover the proving key in memory of both threads, and callers only a copy", async () => {
    const artifacts = await loadArtifacts({ folder: build, lock });
    const [key, bytes] = [await provingKeyOf(artifacts, "toy"), await artifacts.bytes("toy", "zkey")];
    assert.ok(key.buffer instanceof SharedArrayBuffer);
    assert.ok(bytes.buffer instanceof ArrayBuffer);
    assert.deepEqual(Buffer.from(key), Buffer.from(bytes));
    assert.strictEqual(await provingKeyOf(artifacts, "toy"), key);
    assert.strictEqual(await artifacts.bytes("toy", "zkey"), bytes);
    await expectRejected("CIRCUIT_UNKNOWN", () => provingKeyOf(artifacts, "unknown"));
    // No member of what programs get leads to the shared array.
    const names = [artifacts, Object.getPrototypeOf(artifacts)].flatMap((from) => Object.getOwnPropertyNames(from));
    assert.sameMembers(names, ["set", "lock", "circuits", "constructor", "bytes", "verificationKey", "clear"]);
    bytes.fill(0);
    assert.strictEqual(Buffer.from(key.subarray(0, 4)).toString(), "zkey");
    const own: Artifacts = {
      ...artifacts,
      bytes: async () => bytes,
      verificationKey: artifacts.verificationKey,
      clear: () => undefined,
    };
    assert.strictEqual(await provingKeyOf(own, "toy"), bytes);
  });

  it("are read from the folder of their set if it is not the development set", async () => {
    const folder = copy();
    const artifacts = await loadArtifacts({ folder, lock: { ...lock, set: "ceremony/autumn-2026" } });
    assert.equal(artifacts.set, "ceremony/autumn-2026");
    const of = join(folder, "ceremony", "autumn-2026");
    const { details } = await expectRejected("ARTIFACT_MISSING", () => artifacts.bytes("toy", "vkey"));
    assert.equal(details["file"], join(of, "toy", "toy.vkey.json"));
    mkdirSync(of, { recursive: true });
    renameSync(join(folder, "toy"), join(of, "toy"));
    assert.equal((await artifacts.verificationKey("toy")).nPublic, 2);
  });

  it("are refused if a point of the verification key is outside the subgroup", async () => {
    const folder = copy();
    const path = join(folder, "toy", "toy.vkey.json");
    const { x, y } = twistPoint(1000n);
    const wrong = { ...JSON.parse(readFileSync(path, "utf8")), vk_beta_2: [x.map(String), y.map(String), ["1", "0"]] };
    writeFileSync(path, JSON.stringify(wrong));
    const artifacts = await loadArtifacts({ folder, lock: toyLock(folder) });
    await expectRejected("VERIFICATION_KEY_INVALID", () => artifacts.verificationKey("toy"));
  });

  for (const file of ["toy.wasm", "toy.zkey", "toy.vkey.json"]) {
    it(`are rejected before any input is used if one byte of ${file} changed`, async () => {
      const folder = copy();
      const path = join(folder, "toy", file);
      const bytes = readFileSync(path);
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      const prover = createProver(await loadArtifacts({ folder, lock }));
      const stages: string[] = [];
      const error = await expectRejected("ARTIFACT_CHANGED", () =>
        prover.prove("toy", TOY_INPUT, { onProgress: (stage) => stages.push(stage) }),
      );
      assert.deepEqual(stages, ["artifacts"]);
      const kind = file.split(".")[1] as "wasm" | "zkey" | "vkey";
      assert.equal(error.details["file"], path);
      assert.equal(error.details["expected"], lock.circuits["toy"]?.[kind]);
      assert.notEqual(error.details["found"], error.details["expected"]);
    });

    it(`are rejected while ${file} is missing`, async () => {
      const folder = copy();
      const path = join(folder, "toy", file);
      const bytes = readFileSync(path);
      rmSync(path);
      const artifacts = await loadArtifacts({ folder, lock });
      const error = await expectRejected("ARTIFACT_MISSING", () => createProver(artifacts).prove("toy", TOY_INPUT));
      assert.equal(error.details["file"], path);
      writeFileSync(path, bytes);
      assert.lengthOf((await createProver(artifacts).prove("toy", TOY_INPUT)).proof, 8);
    });
  }

  it("are rejected if they do not match the lock", async () => {
    const swapped = { ...lock, circuits: { toy: { ...lock.circuits["toy"], zkey: "0".repeat(64) } } } as ArtifactsLock;
    const artifacts = await loadArtifacts({ folder: build, lock: swapped });
    await expectRejected("ARTIFACT_CHANGED", () => artifacts.bytes("toy", "zkey"));
    const compiledIn = await loadArtifacts({ folder: build });
    assert.equal(compiledIn.set, "development");
    await expectRejected("CIRCUIT_UNKNOWN", () => compiledIn.bytes("toy", "zkey"));
    await expectRejected("CIRCUIT_UNKNOWN", () => compiledIn.bytes("constructor", "zkey"));
  });

  it("reject a size above the limit without reading the whole file", async () => {
    const artifacts = await loadArtifacts({ folder: build, lock, maxBytes: { zkey: 100 } });
    await expectRejected("ARTIFACT_TOO_LARGE", () => artifacts.bytes("toy", "zkey"));
  });

  it("share one read among concurrent loads, and cache it", async () => {
    let requests = 0;
    const bytes = readFileSync(join(build, "toy", "toy.zkey"));
    const fetch = async (): Promise<Response> => {
      requests++;
      return new Response(bytes);
    };
    const artifacts = await loadArtifacts({ baseUrl: "https://artifacts.example/v1", lock, fetch });
    const [first, second] = await Promise.all([artifacts.bytes("toy", "zkey"), artifacts.bytes("toy", "zkey")]);
    assert.strictEqual(first, second);
    assert.strictEqual(await artifacts.bytes("toy", "zkey"), first);
    assert.equal(requests, 1);
    artifacts.clear();
    await artifacts.bytes("toy", "zkey");
    assert.equal(requests, 2);
  });

  const badLocks: [string, unknown][] = [
    ["null", null],
    ["no set", { circuits: {} }],
    ["a path for a set", { set: "ceremony/../x", circuits: {} }],
    ["no circuits", { set: "x" }],
    ["an upper-case hash", { set: "x", circuits: { toy: { wasm: "A".repeat(64), zkey: "", vkey: "" } } }],
    ["a missing hash", { set: "x", circuits: { toy: { wasm: "a".repeat(64), zkey: "a".repeat(64) } } }],
    ["a path for a name", { set: "x", circuits: { "../toy": {} } }],
  ];
  for (const [what, bad] of badLocks) {
    it(`cannot be loaded with ${what} as a lock`, async () => {
      await expectRejected("ARTIFACTS_LOCK_INVALID", () => loadArtifacts({ folder: "/", lock: bad as ArtifactsLock }));
    });
  }

  const badSources: [string, LoadOptions][] = [
    ["neither folder nor URL", {}],
    ["both", { folder: "/", baseUrl: "https://x.example" }],
    ["a relative URL", { baseUrl: "artifacts" }],
    ["a file URL", { baseUrl: "file:///etc" }],
  ];
  for (const [what, bad] of badSources) {
    it(`cannot be loaded with ${what} as a source`, async () => {
      await expectRejected("ARTIFACTS_SOURCE_INVALID", () => loadArtifacts({ ...bad, lock }));
    });
  }

  describe("over HTTP", () => {
    let server: Server;
    let url: string;

    before((done) => {
      server = createServer((request, response) => {
        if (request.url?.startsWith("/broken")) return void response.writeHead(503).end();
        if (request.url?.startsWith("/cut")) {
          response.writeHead(200, { "content-length": "1000000" }).write("some");
          return void setTimeout(() => response.destroy(), 20);
        }
        try {
          response.end(readFileSync(join(build, ...(request.url ?? "").split("/").filter((part) => part !== ".."))));
        } catch {
          response.writeHead(404).end();
        }
      }).listen(0, "127.0.0.1", () => {
        url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        done();
      });
    });

    after((done) => {
      server.closeAllConnections();
      server.close(done);
    });

    const load = (path: string, options: Partial<LoadOptions> = {}): Promise<Artifacts> =>
      loadArtifacts({ baseUrl: `${url}${path}`, lock, ...options });

    it("are fetched from a base URL with or without a slash", async () => {
      assert.deepEqual(await (await load("")).bytes("toy", "vkey"), await (await load("/")).bytes("toy", "vkey"));
      assert.lengthOf((await createProver(await load("/")).prove("toy", TOY_INPUT)).proof, 8);
    });

    it("report missing, broken, truncated, too large or unreachable files", async () => {
      const missing = await expectRejected("ARTIFACT_MISSING", async () =>
        (await load("/other/")).bytes("toy", "zkey"),
      );
      assert.equal(missing.details["file"], `${url}/other/toy/toy.zkey`);
      await expectRejected("ARTIFACT_UNREACHABLE", async () => (await load("/broken/")).bytes("toy", "zkey"));
      await expectRejected("ARTIFACT_UNREACHABLE", async () => (await load("/cut/")).bytes("toy", "zkey"));
      const small = await load("/", { maxBytes: { zkey: 100 } });
      await expectRejected("ARTIFACT_TOO_LARGE", () => small.bytes("toy", "zkey"));
      const nobody = await loadArtifacts({ baseUrl: "http://127.0.0.1:1", lock });
      await expectRejected("ARTIFACT_UNREACHABLE", () => nobody.bytes("toy", "zkey"));
    });
  });
});

describe("artifact sets", function () {
  slow(this, "a circuit is compiled, and proofs made");
  it("have names, and an unknown name is rejected before anything is read", async () => {
    assert.include(ARTIFACT_SETS, "development");
    assert.equal(lockOf("development").set, "development");
    const loaded = await loadArtifacts({ folder: "/nowhere", set: "development" });
    assert.equal(loaded.set, "development");
    for (const set of ["ceremony/none", "", "__proto__", "rehearsal/toy"])
      await expectRejected("ARTIFACT_SET_UNKNOWN", () => loadArtifacts({ folder: "/nowhere", set }));
  });
});
