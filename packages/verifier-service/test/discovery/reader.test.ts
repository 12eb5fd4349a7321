import { Worker } from "node:worker_threads";
import { anyRejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { NotListed } from "../../src/discovery/listing-key.ts";
import { type ListingReader, openListingReader } from "../../src/discovery/reader.ts";
import { encoded, LISTING, recursiveListing, required, SERVED, WALLET } from "./support/required.ts";

const DUE = { url: "https://data.example/weather", method: "GET" };
const answer = (changes: Record<string, unknown> = {}) => ({
  status: 402,
  required: encoded(required(DUE.url, changes)),
});
const bazaar = (changes: object) => ({ extensions: { bazaar: { ...LISTING.extensions.bazaar, ...changes } } });

describe("the thread that reads listings", () => {
  const readers: ListingReader[] = [];
  after(() => Promise.all(readers.map((reader) => reader.close())));
  const open = (parts: Partial<Parameters<typeof openListingReader>[0]> = {}) => {
    const reader = openListingReader({ served: SERVED, ...parts });
    readers.push(reader);
    return reader;
  };

  it("reads a listing, and says why another is not listed", async () => {
    const reader = open();
    const [first, second] = await Promise.all([
      reader.read(DUE, answer()),
      anyRejection(reader.read(DUE, { status: 200, required: undefined })),
    ]);
    expect([first.key, first.payTo]).to.deep.equal([DUE, WALLET]);
    expect(second)
      .to.be.instanceOf(NotListed)
      .with.property("message", "the host responded with status 200 instead of 402");
    await reader.assertListed(JSON.stringify(first.item));
    expect(await anyRejection(reader.assertListed("{}"))).to.be.instanceOf(NotListed);
  });

  it("reads a schema whose recursive references branch at each level of the value", async () => {
    const [info, schema] = recursiveListing();
    await open().read(DUE, answer(bazaar({ info, schema })));
  });

  /** Starts the real worker the second time, and at first one that runs `code` for each listing. */
  const hostileAtFirst = (code: string) => {
    let started = 0;
    return (workerData: unknown) => {
      started += 1;
      if (started > 1)
        return new Worker(new URL("../../src/discovery/reader-worker.ts", import.meta.url), { workerData });
      const first = `const { parentPort } = require("node:worker_threads");
        parentPort.on("message", () => { ${code} });
        parentPort.postMessage("ready");`;
      return new Worker(first, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
    };
  };
  const hostile: Record<string, string> = {
    "loops forever": "for (;;);",
    "backtracks forever": `/^(a+)+$/.test("${"a".repeat(100)}!")`,
    "takes all memory": "const all = []; for (;;) all.push(new Array(1e4).fill({}));",
    throws: `throw new Error("unexpected")`,
  };
  for (const [name, code] of Object.entries(hostile))
    it(`does not list a resource if reading it ${name}, and reads the next`, async () => {
      const reader = open({ startWorker: hostileAtFirst(code), deadlineMs: 2_000 });
      const [first, second] = await Promise.allSettled([reader.read(DUE, answer()), reader.read(DUE, answer())]);
      expect(first).to.have.property("reason").that.is.instanceOf(NotListed);
      expect(second.status).to.equal("fulfilled");
    });

  it("fails without a verdict if its thread does not start", async () => {
    const reader = open({ startWorker: () => new Worker("process.exit(1)", { eval: true }) });
    expect(await anyRejection(reader.read(DUE, answer()))).to.not.be.instanceOf(NotListed);
  });

  it("closes while it reads, without a verdict", async () => {
    const reader = open({ startWorker: hostileAtFirst("for (;;);"), deadlineMs: 86_400_000 });
    const reading = [reader.read(DUE, answer()), reader.read(DUE, answer())].map(anyRejection);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await reader.close();
    for (const error of await Promise.all(reading)) expect(error).to.be.instanceOf(Error).and.not.instanceOf(NotListed);
  });
});
