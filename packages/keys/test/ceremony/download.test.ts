import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { download } from "../../src/ceremony/download.ts";
import { PTAU_HASHES, ptauFileName } from "../../src/ceremony/ptau-list.ts";

const FILE = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31) & 255));
const HASH = createHash("blake2b512").update(FILE).digest("hex");

describe("the list of phase 1 files", function () {
  slow(this, "keys, circuits and ceremonies are made");
  it("has every power from 8 to 28, with the hashes that were published", () => {
    expect(Object.keys(PTAU_HASHES).map(Number)).to.deep.equal(Array.from({ length: 21 }, (_, i) => i + 8));
    for (const hash of Object.values(PTAU_HASHES)) expect(hash).to.match(/^[0-9a-f]{128}$/);
    expect(new Set(Object.values(PTAU_HASHES)).size).to.equal(21);
    // Copied independently of the list.
    expect(PTAU_HASHES[14]).to.match(/^eeefbcf7c3803b523c94112023c7ff89558f9b8e0cf5d6cdcba3ade60f168af4/);
    expect(PTAU_HASHES[16]).to.match(/^6a6277a2f74e1073/);
  });

  it("has the files' names", async () => {
    expect(ptauFileName(8)).to.equal("powersOfTau28_hez_final_08.ptau");
    expect(ptauFileName(16)).to.equal("powersOfTau28_hez_final_16.ptau");
    expect(ptauFileName(28)).to.equal("powersOfTau28_hez_final.ptau");
    await expectRejected("PTAU_POWER_UNKNOWN", async () => ptauFileName(29));
  });
});

describe("downloading", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let folder: string;
  let target: string;
  const ranges: (string | undefined)[] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
  const server = createServer((request, response) => {
    ranges.push(request.headers.range);
    void answer(request, response);
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/file.ptau`;

  const whole = (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, { "content-length": FILE.length }).end(FILE);
  const ranged = (request: IncomingMessage, response: ServerResponse) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "bytes=0-")![1]);
    if (start >= FILE.length) return void response.writeHead(416).end();
    const rest = FILE.subarray(start);
    response.writeHead(start === 0 ? 200 : 206, { "content-length": rest.length }).end(rest);
  };
  /** Ends the connection once the client has written a part of the file: fetch discards what it has not delivered. */
  const cutAfter = (bytes: number) => async (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { "content-length": FILE.length });
    response.write(FILE.subarray(0, bytes));
    const part = `${target}.part`;
    while (!existsSync(part) || statSync(part).size === 0) await sleep(5);
    response.socket?.end();
  };

  before((done) => void server.listen(0, "127.0.0.1", done));
  after((done) => void server.close(done));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sotto-download-"));
    target = join(folder, "file.ptau");
    ranges.length = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("writes the expected file, and does not fetch it again", async () => {
    answer = whole;
    const seen: (number | undefined)[] = [];
    await download(url(), target, HASH, (bytes, total) => seen.push(bytes, total));
    expect(readFileSync(target).equals(FILE)).to.equal(true);
    expect(seen.slice(-2)).to.deep.equal([FILE.length, FILE.length]);
    await download(url(), target, HASH);
    expect(ranges).to.have.length(1);
  });

  it("resumes after a lost connection", async () => {
    answer = cutAfter(100_000);
    const { message } = await expectRejected("DOWNLOAD_FAILED", () => download(url(), target, HASH));
    expect(message).to.include("ended after").and.include("again to resume");
    expect(existsSync(target)).to.equal(false);
    answer = ranged;
    await download(url(), target, HASH);
    expect(ranges[1]).to.match(/^bytes=[1-9]\d*-$/);
    expect(readFileSync(target).equals(FILE)).to.equal(true);
  });

  it("restarts if the server does not support ranges, and accepts a complete part", async () => {
    writeFileSync(`${target}.part`, FILE.subarray(0, 1000));
    answer = whole;
    await download(url(), target, HASH);
    expect(readFileSync(target).equals(FILE)).to.equal(true);
    rmSync(target);
    writeFileSync(`${target}.part`, FILE);
    answer = ranged;
    await download(url(), target, HASH);
    expect(ranges.at(-1)).to.equal(`bytes=${FILE.length}-`);
  });

  it("deletes an unexpected file, and reports it", async () => {
    answer = (_, response) => void response.end("another");
    await expectRejected("PTAU_UNKNOWN", () => download(url(), target, HASH));
    expect(existsSync(target) || existsSync(`${target}.part`)).to.equal(false);
    answer = (_, response) => void response.writeHead(404).end();
    expect((await expectRejected("DOWNLOAD_FAILED", () => download(url(), target, HASH))).message).to.include(
      "status 404",
    );
    const closed = url().replace(/:\d+/, ":1");
    await expectRejected("DOWNLOAD_FAILED", () => download(closed, target, HASH));
  });
});
