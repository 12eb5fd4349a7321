import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expandKey } from "@sotto/groth16";
import { CIRCUITS } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { artifacts, openService, type TestService } from "@sotto/test-world/service";
import { expect } from "chai";

const KINDS: readonly [string, string][] = [
  ["proving-key", "zkey"],
  ["verification-key", "vkey.json"],
];
const fileOf = (name: string, ending: string) => readFileSync(join(artifacts, name, `${name}.${ending}`));
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("circuits and keys", function () {
  slow(this, "a chain, a service and proofs");
  let service: TestService;
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(`${service.url}${path}`, { headers, method });
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

  before(async () => {
    service = await openService();
  });
  after(() => service.close());

  it("describes every circuit with its signals and files, each under its content hash", async () => {
    const response = await get("/circuits");
    const text = await response.text();
    // With an ETag derived from the keys alone, clients would keep URLs of witness generators that no longer exist.
    expect(response.headers.get("etag")).to.equal(`"${sha256(Buffer.from(text))}"`);
    const body = JSON.parse(text) as {
      artifactSet: { name: string; id: string };
      circuits: Record<
        string,
        { publicSignals: unknown; files: Record<string, { url: string; sha256: string; size: number }> }
      >;
    };
    expect(body.artifactSet.name).to.equal("development");
    expect(Object.keys(body.circuits)).to.deep.equal(Object.keys(CIRCUITS));
    for (const [name, { publicSignals, files }] of Object.entries(body.circuits)) {
      expect(publicSignals).to.deep.equal(CIRCUITS[name as keyof typeof CIRCUITS].publicSignals);
      expect(files).to.have.all.keys("wasm", "zkey", "vkey", "r1cs", "czkey");
      for (const { url, sha256: hash, size } of [files["vkey"]!, files["wasm"]!, files["czkey"]!]) {
        const file = await get(`/${url}`);
        expect(file.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
        expect(file.headers.get("etag")).to.equal(`"${hash}"`);
        const bytes = await bytesOf(file);
        expect([bytes.length, sha256(bytes)]).to.deep.equal([size, hash]);
      }
    }
    const again = await get("/circuits", { "if-none-match": response.headers.get("etag")! });
    expect(again.status).to.equal(304);
  });

  it("serves each proving key in compact form too, which expands to the same key", async () => {
    const { circuits } = (await (await get("/circuits")).json()) as {
      circuits: Record<string, { files: Record<string, { url: string; sha256: string }> }>;
    };
    const { zkey, czkey } = circuits["elgamal_range"]!.files;
    const expanded = await expandKey(await bytesOf(await get(`/${czkey!.url}`)));
    expect(sha256(Buffer.from(expanded))).to.equal(zkey!.sha256);
  });

  for (const [path, ending] of KINDS)
    it(`serves the ${path} of the payment circuit by default, and of any circuit by name`, async () => {
      expect((await bytesOf(await get(`/${path}`))).equals(fileOf("payment", ending))).to.equal(true);
      for (const name of ["elgamal_range", "payment"])
        expect((await bytesOf(await get(`/${path}/${name}`))).equals(fileOf(name, ending))).to.equal(true);
      for (const name of ["nothing", "__proto__", "..%2Fpayment", "toString"]) {
        const response = await get(`/${path}/${name}`);
        expect([response.status, ((await response.json()) as { code: string }).code]).to.deep.equal([404, "NOT_FOUND"]);
      }
    });

  it("answers HEAD with everything but the body", async () => {
    const [head, whole] = [await get("/proving-key", {}, "HEAD"), await get("/proving-key")];
    for (const header of ["etag", "content-length", "content-type", "cache-control", "accept-ranges"])
      expect(head.headers.get(header), header).to.equal(whole.headers.get(header));
    expect(head.headers.get("content-length")).to.equal(String(fileOf("payment", "zkey").length));
    expect(await bytesOf(head)).to.have.length(0);
    await whole.body?.cancel();
  });

  it("answers single ranges with 206, ranges beyond the file with 416, anything else with the whole file", async () => {
    const file = fileOf("payment", "zkey");
    const part = await get("/proving-key", { range: "bytes=100-199" });
    expect(part.status).to.equal(206);
    expect(part.headers.get("content-range")).to.equal(`bytes 100-199/${file.length}`);
    expect((await bytesOf(part)).equals(file.subarray(100, 200))).to.equal(true);
    const tail = await get("/proving-key", { range: "bytes=-10" });
    expect((await bytesOf(tail)).equals(file.subarray(-10))).to.equal(true);
    const beyond = await get("/proving-key", { range: `bytes=${file.length}-` });
    expect([beyond.status, beyond.headers.get("content-range")]).to.deep.equal([416, `bytes */${file.length}`]);
    expect(((await beyond.json()) as { code: string }).code).to.equal("RANGE_NOT_SATISFIABLE");
    for (const range of ["bytes=0-1,3-4", "lines=1-2", "bytes=5-2"]) {
      const whole = await get("/verification-key", { range });
      expect([whole.status, (await bytesOf(whole)).length]).to.deep.equal([200, fileOf("payment", "vkey.json").length]);
    }
  });

  it("does not resume a download of another version of a file", async () => {
    const etag = (await get("/verification-key", {}, "HEAD")).headers.get("etag")!;
    const range = "bytes=0-9";
    expect((await get("/verification-key", { range, "if-range": etag })).status).to.equal(206);
    expect((await get("/verification-key", { range, "if-range": '"other"' })).status).to.equal(200);
  });

  describe("compressed with brotli", () => {
    const br = { "accept-encoding": "gzip, br" };
    /** Sends a request with node:http, which does not decompress the response. */
    const raw = async (path: string, headers: Record<string, string> = {}) => {
      const message = await new Promise<IncomingMessage>((resolve, reject) =>
        request(`${service.url}${path}`, { headers }, resolve).on("error", reject).end(),
      );
      return { message, bytes: Buffer.concat(await message.toArray()) };
    };

    it("sends every proving key and witness generator compressed to a client that accepts it", async () => {
      for (const name of Object.keys(CIRCUITS))
        for (const ending of ["zkey", "wasm"]) {
          const file = fileOf(name, ending);
          const { message, bytes } = await raw(`/artifacts/${sha256(file)}`, br);
          expect(message.headers).to.include({ "content-encoding": "br", etag: `"${sha256(file)}-br"` });
          expect(message.headers["content-length"]).to.equal(String(bytes.length));
          expect(bytes.length).to.be.below(0.7 * file.length);
          expect(sha256(brotliDecompressSync(bytes))).to.equal(sha256(file));
        }
    });

    it("is decoded by fetch to the locked file", async () => {
      expect((await bytesOf(await get("/proving-key", br))).equals(fileOf("payment", "zkey"))).to.equal(true);
    });

    it("is not sent to a client that does not accept it, and Vary says so", async () => {
      const file = fileOf("payment", "zkey");
      for (const encoding of ["", "gzip", "br;q=0", "identity, br; q=0.000", "brx"]) {
        const { message, bytes } = await raw("/proving-key", { "accept-encoding": encoding });
        expect([message.headers["content-encoding"], bytes.length], encoding).to.deep.equal([undefined, file.length]);
        expect(message.headers.vary).to.match(/accept-encoding/);
        expect(message.headers.etag).to.equal(`"${sha256(file)}"`);
      }
      for (const encoding of ["br", "BR;q=0.1", "gzip;q=1.0, br;q=0.5"]) {
        const { message } = await raw("/proving-key", { "accept-encoding": encoding });
        expect([message.headers["content-encoding"], message.headers.vary]).to.deep.equal(["br", "accept-encoding"]);
      }
    });

    it("has its own ETag for 304 responses, while ranges refer to the uncompressed file", async () => {
      const file = fileOf("payment", "zkey");
      const known = { ...br, "if-none-match": `"${sha256(file)}-br"` };
      expect((await raw("/proving-key", known)).message.statusCode).to.equal(304);
      expect((await raw("/proving-key", { ...known, "accept-encoding": "gzip" })).message.statusCode).to.equal(200);
      const { message, bytes } = await raw("/proving-key", { ...br, range: "bytes=100-199" });
      expect([message.statusCode, message.headers["content-encoding"]]).to.deep.equal([206, undefined]);
      expect(bytes.equals(file.subarray(100, 200))).to.equal(true);
      const resumed = await raw("/proving-key", { ...br, range: "bytes=5-", "if-range": `"${sha256(file)}-br"` });
      expect([resumed.message.statusCode, resumed.bytes.length]).to.deep.equal([200, file.length]);
    });
  });

  it("answers 304 if the client has the file", async () => {
    const etag = (await get("/verification-key", {}, "HEAD")).headers.get("etag")!;
    const response = await get("/verification-key", { "if-none-match": `"x", ${etag}` });
    expect([response.status, (await bytesOf(response)).length]).to.deep.equal([304, 0]);
  });

  it("answers 404 to unknown hashes", async () => {
    for (const hash of ["00".repeat(32), "x", "..%2f..%2fpackage.json"])
      expect((await get(`/artifacts/${hash}`)).status).to.equal(404);
  });
});
