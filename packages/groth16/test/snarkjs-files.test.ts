// How snarkjs's functions read files: what they keep, what they wipe, and what their errors say.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { withSnarkjs } from "@sotto/test-kit/with-snarkjs";
import { assert } from "chai";
import * as snarkjs from "snarkjs";
import { type Groth16Options, groth16, type ZKArtifact } from "../src/index.ts";
import { fileOf, sectionsOf } from "./support/sections.ts";

type Read = (into: Uint8Array, ...rest: unknown[]) => unknown;

/** The arrays that files were read into during an action. */
async function readsDuring(file: string, run: () => Promise<unknown>): Promise<Uint8Array[]> {
  const handle = await open(file, "r");
  const prototype = Object.getPrototypeOf(handle) as { read: Read };
  await handle.close();
  const { read } = prototype;
  const reads: Uint8Array[] = [];
  prototype.read = function (this: FileHandle, into, ...rest) {
    reads.push(into);
    return read.call(this, into, ...rest);
  };
  try {
    await run();
  } finally {
    prototype.read = read;
  }
  return reads;
}

describe("files of snarkjs's functions", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let wasm: string;
  let zkey: string;
  let folder: string;
  let wtns: string;

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    [wasm, zkey] = ["toy.wasm", "toy.zkey"].map((file) => join(build, "toy", file)) as [string, string];
    folder = mkdtempSync(join(tmpdir(), "sotto-files-"));
    wtns = join(folder, "toy.wtns");
    await withSnarkjs(() => snarkjs.wtns.calculate(TOY_INPUT as never, wasm, wtns));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("are read and prepared once for simultaneous proofs with different options", async () => {
    // Of its own, so that no other test has read it.
    const copy = join(folder, "parallel.zkey");
    writeFileSync(copy, readFileSync(zkey));
    const bytes = new Uint8Array(readFileSync(wasm));
    const kernels: unknown[] = [];
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = ((...given: Parameters<typeof instantiate>) => {
      if (given[1]?.["env"]?.["memory"] instanceof WebAssembly.Memory) kernels.push(given[0]);
      return instantiate(...given);
    }) as typeof instantiate;
    try {
      const reads = await readsDuring(copy, async () => {
        const options: Groth16Options[] = [{}, {}, { selfCheck: false }];
        const results = await Promise.all(options.map((each) => groth16.fullProve(TOY_INPUT, bytes, copy, each)));
        for (const { publicSignals } of results) assert.deepEqual(publicSignals, TOY_SIGNALS);
        assert.deepEqual((await groth16.prove(copy, readFileSync(wtns))).publicSignals, TOY_SIGNALS);
      });
      assert.lengthOf(reads, 1);
    } finally {
      WebAssembly.instantiate = instantiate;
    }
    // The bases' kernel and the quotient's.
    assert.lengthOf(kernels, 2);
  });

  it("with a small key start no thread", () => {
    // A section that no proof needs makes a key large.
    const large = join(folder, "large.zkey");
    const sections = [...sectionsOf(readFileSync(zkey)), { id: 4711, bytes: new Uint8Array(2_000_000) }];
    writeFileSync(large, fileOf(sections, { magic: "zkey", version: 1 }));
    const entry = pathToFileURL(join(import.meta.dirname, "..", "src", "index.ts")).href;
    const script = `
      import { readFileSync } from "node:fs";
      import { groth16 } from ${JSON.stringify(entry)};
      const [path, large, wtns] = ${JSON.stringify([zkey, large, wtns])};
      let threads = 0;
      process.on("worker", () => threads++);
      const started = [];
      for (const [key, options] of [
        [path],
        [new Uint8Array(readFileSync(path))],
        [{ type: "file", fileName: path }],
        [large, { singleThread: true }],
        [large],
      ]) {
        await groth16.prove(key, wtns, options);
        started.push(threads);
      }
      console.log(started.join());`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
    assert.equal(printed.trim(), "0,0,0,0,1");
  });

  it("with a key are read again after a change, also during a proof", async () => {
    const copy = join(folder, "changed.zkey");
    const bytes = readFileSync(zkey);
    writeFileSync(copy, bytes);
    // Before Linux 6.13, two changes in the same tick of up to 10 ms leave the same times.
    utimesSync(copy, 0, 0);
    // When a proof begins, nothing but the key's header was read.
    const onProgress = (stage: string): void => {
      if (stage === "proof") writeFileSync(copy, bytes);
    };
    const error = await expectRejected("CIRCUIT_FILE_UNREADABLE", () => groth16.prove(copy, wtns, { onProgress }));
    assert.match(error.message, /changed\.zkey: it changed while it was read/);
    for (let proof = 0; proof < 2; proof++) {
      assert.deepEqual((await groth16.prove(copy, wtns)).publicSignals, TOY_SIGNALS);
      writeFileSync(copy, bytes);
    }
    writeFileSync(copy, bytes.subarray(0, 3));
    await expectRejected("PROVING_KEY_INVALID", () => groth16.prove(copy, wtns));
  });

  it("with a key are found although the process changes its folder", async () => {
    const home = process.cwd();
    writeFileSync(join(folder, "relative.zkey"), readFileSync(zkey));
    process.chdir(folder);
    try {
      const onProgress = (stage: string): void => {
        if (stage === "proof") process.chdir(home);
      };
      const { publicSignals } = await groth16.prove("relative.zkey", wtns, { onProgress });
      assert.deepEqual(publicSignals, TOY_SIGNALS);
    } finally {
      process.chdir(home);
    }
  });

  it("are read again after a read that failed", async () => {
    const copy = join(folder, "short.zkey");
    writeFileSync(copy, readFileSync(zkey));
    const handle = await open(copy, "r");
    const prototype = Object.getPrototypeOf(handle) as { read: Read };
    await handle.close();
    const { read } = prototype;
    prototype.read = async () => ({ bytesRead: 0 });
    try {
      const error = await expectRejected("CIRCUIT_FILE_UNREADABLE", () => groth16.fullProve(TOY_INPUT, wasm, copy));
      assert.match(error.message, /became shorter/);
    } finally {
      prototype.read = read;
    }
    assert.deepEqual((await groth16.fullProve(TOY_INPUT, wasm, copy)).publicSignals, TOY_SIGNALS);
  });

  it("do not delay an abort while they are opened", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    // Opening a pipe to read waits until another process opens it to write.
    for (const run of [
      (options: Groth16Options) => groth16.fullProve(TOY_INPUT, wasm, pipe, options),
      (options: Groth16Options) => groth16.fullProve(TOY_INPUT, pipe, zkey, options),
      (options: Groth16Options) => groth16.prove(zkey, pipe, options),
      (options: Groth16Options) => groth16.prepare(TOY_INPUT, "label", wasm, pipe, options),
    ]) {
      const controller = new AbortController();
      const proving = run({ signal: controller.signal });
      setImmediate(() => controller.abort());
      try {
        await expectRejected("ABORTED", () => proving);
      } finally {
        await (await open(pipe, "r+")).close();
      }
    }
  });

  it("with a witness are wiped after the proof, and after one that fails", async () => {
    const used = (reads: readonly Uint8Array[]) => reads.map((bytes) => bytes.some((byte) => byte !== 0));
    await groth16.prove(zkey, wtns);
    for (const file of [wtns, { type: "file", fileName: wtns } as const]) {
      const reads = await readsDuring(wtns, () => groth16.prove(zkey, file));
      assert.deepEqual(used(reads), [false]);
    }
    const cut = join(folder, "cut.wtns");
    writeFileSync(cut, readFileSync(wtns).subarray(0, -32));
    const reads = await readsDuring(cut, () => expectRejected("WITNESS_FILE_INVALID", () => groth16.prove(zkey, cut)));
    assert.deepEqual(used(reads), [false]);
    // A caller's bytes stay as they are.
    for (const given of [new Uint8Array(readFileSync(wtns)), new Uint8Array(readFileSync(wtns))].entries()) {
      const [index, data] = given;
      await groth16.prove(zkey, index === 0 ? data : { type: "mem", data });
      assert.deepEqual(Buffer.from(data), readFileSync(wtns));
    }
  });

  it("are named in errors only by a path, never by a URL", async () => {
    const unreadable = async (file: ZKArtifact) => {
      const error = await expectRejected("CIRCUIT_FILE_UNREADABLE", () => groth16.fullProve(TOY_INPUT, wasm, file));
      assert.notMatch(inspect(error, { depth: 9, showHidden: true }), /hidden/);
      return error.message;
    };
    // Nobody listens there any more.
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    for (const file of [
      "file:///no/such?token=hidden",
      new URL("file:///no/such?token=hidden"),
      "file://[hidden",
      "file://hidden/no/such",
      "http://[bad?token=hidden",
      `http://127.0.0.1:${port}/?token=hidden`,
      `https://user:hidden@127.0.0.1:${port}/`,
      new URL(`http://127.0.0.1:${port}/?token=hidden`),
    ])
      assert.match(await unreadable(file), /^The proving key cannot be read: /);
    for (const file of ["data:application/octet-stream,hidden", "blob:hidden", "ftp://hidden/toy.zkey", "s3:hidden"])
      assert.match(await unreadable(file), /neither a path nor a URL of http, https or file/);
    assert.match(await unreadable(`http://127.0.0.1:${port}/?token=hidden`), /the download failed: ECONNREFUSED/);
    assert.match(await unreadable("/no/such/toy.zkey"), /\/no\/such\/toy\.zkey: ENOENT/);
    assert.match(await unreadable("C:\\no\\such.zkey"), /C:\\no\\such\.zkey: ENOENT/);
  });
});
