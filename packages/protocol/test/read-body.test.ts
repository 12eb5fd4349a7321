import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { readBody, SottoError } from "../src/index.ts";

/** Responses by path, most of them attempts to make the client use too much memory or time. */
const answers: Record<string, (response: ServerResponse) => void> = {
  "/short": (response) => void response.end("0123456789"),
  "/none": (response) => void response.writeHead(204).end(),
  "/pieces": (response) => {
    for (let i = 0; i < 3_000; i += 1) response.write("x");
    response.end();
  },
  "/endless": (response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", more);
    more();
  },
  // Claims a terabyte, and sends one byte more than the limit.
  "/claims": (response) => void response.writeHead(200, { "content-length": 2 ** 40 }).write("0123456789!"),
  "/compressed": (response) =>
    void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000))),
  "/silent": (response) => void response.writeHead(200).write("0"),
  "/dripping": (response) => {
    const drip = setInterval(() => response.write("0"), 5);
    response.on("close", () => clearInterval(drip));
  },
  "/broken": (response) => {
    response.writeHead(200, { "content-length": 100 }).write("0");
    setTimeout(() => response.destroy(), 20);
  },
};

/** More bytes than any response sends before its timeout. */
const UNLIMITED = 2 ** 33;

describe("the body of a response", () => {
  let server: Server;
  let given: Promise<unknown>;
  before(async () => {
    server = createServer(({ url = "" }, response) => {
      given = once(response, "close");
      answers[url]?.(response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  after(() => server.close());

  const ask = (path: string) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
  const text = async (path: string, maxBytes: number) =>
    new TextDecoder().decode(await readBody(await ask(path), maxBytes));
  const failure = (reading: Promise<unknown>): Promise<unknown> =>
    reading.then(
      () => expect.fail("it was read"),
      (error: unknown) => error,
    );

  it("is read completely up to the limit, in one chunk or many", async () => {
    expect(await text("/short", 10)).to.equal("0123456789");
    expect(await text("/pieces", 3_000)).to.equal("x".repeat(3_000));
    expect(await text("/pieces", 100_000)).to.equal("x".repeat(3_000));
    expect(await text("/none", 10)).to.equal("");
    expect(await readBody({ body: null }, 10)).to.have.lengthOf(0);
  });

  for (const path of ["/short", "/endless", "/claims", "/compressed"])
    it(`is not read beyond its limit, and the connection is closed: ${path}`, async () => {
      const maxBytes = path === "/short" ? 9 : path === "/claims" ? 10 : 100_000;
      const error = await failure(readBody(await ask(path), maxBytes));
      expect(error).to.be.instanceOf(SottoError);
      expect(error).to.include({ code: "ANSWER_TOO_LARGE", message: `the response has more than ${maxBytes} bytes` });
      await given;
    });

  it("is copied chunk by chunk, because keeping chunks of one byte would cost a hundred bytes each", async () => {
    const piece = new Uint8Array(1);
    let pulled = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      piece[0] = pulled % 251;
      pulled += 1;
      if (pulled > 20_000) controller.close();
      else controller.enqueue(piece);
    };
    const bytes = await readBody({ body: new ReadableStream({ pull }, { highWaterMark: 0 }) }, 20_000);
    expect(bytes).to.deep.equal(Uint8Array.from({ length: 20_000 }, (_, i) => i % 251));
  });

  for (const path of ["/silent", "/dripping", "/endless"])
    it(`is read until the timeout if it never ends: ${path}`, async () => {
      const stop = new AbortController();
      // No signal is passed to fetch itself.
      const reading = failure(readBody(await ask(path), UNLIMITED, stop.signal));
      const reason = new Error("timed out");
      setTimeout(() => stop.abort(reason), 50);
      expect(await reading).to.equal(reason);
      await given;
    });

  it("is not read after the timeout, and is rejected if truncated", async () => {
    const reason = new Error("timed out");
    expect(await failure(readBody(await ask("/short"), 10, AbortSignal.abort(reason)))).to.equal(reason);
    expect(await failure(text("/broken", 1_000))).to.be.instanceOf(TypeError);
  });
});
