import { createServer, type Server } from "node:http";
import { Worker } from "node:worker_threads";
import { createLog } from "@sotto/server";
import { EVERY_DATABASE, overDatabases } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { Discovery } from "../../src/discovery/discovery.ts";
import { hostAsker } from "../../src/discovery/host.ts";
import { type ListingReader, openListingReader } from "../../src/discovery/reader.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { encoded, LISTING, required, SERVED, WALLET } from "./support/required.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
type Listed = Readonly<Record<"resource" | "description" | "lastUpdated", string>>;
/** Listings of one host, each paid for to fill the catalog. */
const MANY = process.env["SOTTO_LONG"] === "1" ? 10_000 : 300;
/** A worker that reads listings, and never ends with those of a path. */
const hangingAt = (path: string) => (workerData: unknown) => {
  const own = new URL("../../src/discovery/reader-worker.ts", import.meta.url).href;
  const code = `
    const { parentPort } = require("node:worker_threads");
    parentPort.on("message", (request) => {
      if (JSON.stringify(request).includes(${JSON.stringify(path)})) for (;;);
    });
    import(${JSON.stringify(own)});
  `;
  return new Worker(code, { eval: true, workerData });
};
const START = Date.UTC(2026, 10, 22, 12, 34, 56);

overDatabases("the catalog of resources", EVERY_DATABASE, (newUrl) => {
  let now: number;
  let store: Store;
  let server: Server;
  let origin: string;
  /** The host's response; undefined to close the connection. */
  let respond: ((path: string) => { status: number; required?: object }) | undefined;
  let asked: string[];
  let reader: ListingReader;

  before(async () => {
    reader = openListingReader({ served: SERVED });
    server = createServer((request, response) => {
      asked.push(String(request.url));
      if (respond === undefined) return void request.socket.destroy();
      const answer = respond(String(request.url));
      const headers = answer.required === undefined ? {} : { "payment-required": encoded(answer.required) };
      response.writeHead(answer.status, headers).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  after(async () => {
    server.close().closeAllConnections();
    await reader.close();
  });
  beforeEach(async () => {
    now = START;
    asked = [];
    respond = (path) => ({ status: 402, required: required(origin + path) });
    store = await openStore({ url: await newUrl(), clock: () => now });
  });
  afterEach(() => store.close());

  const open = (changes: { delay?: number; perHost?: number; inAll?: number; reader?: ListingReader } = {}) =>
    new Discovery({
      ...{ store, clock: () => now, ask: hostAsker(true), log: createLog("silent") },
      reader: changes.reader ?? reader,
      config: {
        local: true,
        discoveryDelayHours: changes.delay ?? 0,
        discoveryHostLimit: changes.perHost ?? 20,
        discoveryLimit: changes.inAll ?? 5_000,
      },
    });
  const { extensions } = LISTING;
  const items = async (discovery: Discovery, payTo?: string) => {
    const { total, items } = await discovery.page(payTo, 100, 0);
    const parsed = items.map((item) => JSON.parse(item) as Listed);
    expect(total).to.equal(parsed.length);
    return parsed;
  };

  it("shows a resource a random time after the payment, between one and two delays", async () => {
    const discovery = open({ delay: 24 });
    expect(await discovery.note(extensions, `${origin}/a?who=alice`)).to.deep.equal({ status: "processing" });
    now += DAY_MS - 1;
    await discovery.askDue();
    expect([asked, await items(discovery)]).to.deep.equal([[], []]);
    now += DAY_MS + 1;
    await discovery.askDue();
    expect(asked).to.deep.equal(["/a"]);
    const [item] = await items(discovery, WALLET.toUpperCase().replace("X", "x"));
    expect(item).to.include({ resource: `${origin}/a`, lastUpdated: "2026-11-24T00:00:00.000Z" });
    expect(await items(discovery, SERVED.config.pool)).to.deep.equal([]);
  });

  it("does not reveal further payments through the order, the day or the expiry of listings", async () => {
    const discovery = open();
    for (const path of ["/b", "/a"]) await discovery.note(extensions, origin + path);
    await discovery.askDue();
    const before = await items(discovery);
    expect(before.map(({ resource }) => resource)).to.deep.equal([`${origin}/a`, `${origin}/b`]);
    now += 6 * DAY_MS;
    await discovery.note(extensions, `${origin}/b`);
    expect(await items(discovery)).to.deep.equal(before);
    now += DAY_MS;
    expect(await items(discovery)).to.deep.equal([]);
  });

  it("asks the host every day, and updates the shown day only if the listing has changed", async () => {
    const discovery = open();
    await discovery.note(extensions, `${origin}/a`);
    await discovery.askDue();
    const before = await items(discovery);
    now += 2 * DAY_MS;
    await discovery.askDue();
    expect(asked).to.deep.equal(["/a", "/a"]);
    expect(await items(discovery)).to.deep.equal(before);
    respond = (path) => ({ status: 402, required: required(origin + path, { resource: { description: "New" } }) });
    now += 2 * DAY_MS;
    await discovery.askDue();
    const [{ description, lastUpdated } = {} as never] = await items(discovery);
    expect([description, lastUpdated]).to.deep.equal(["New", "2026-11-26T00:00:00.000Z"]);
  });

  it("removes a listing that its host withdraws, and keeps it through an outage of less than a week", async () => {
    const discovery = open();
    for (const path of ["/gone", "/plain", "/free", "/down"]) await discovery.note(extensions, origin + path);
    await discovery.askDue();
    expect(await items(discovery)).to.have.lengthOf(4);
    respond = (path) =>
      path === "/gone"
        ? { status: 404 }
        : path === "/plain"
          ? { status: 402, required: required(origin + path, { extensions: {} }) }
          : { status: path === "/free" ? 200 : 503 };
    now += 2 * DAY_MS;
    await discovery.askDue();
    expect((await items(discovery)).map(({ resource }) => resource)).to.deep.equal([`${origin}/down`]);
    respond = undefined;
    now += 2 * DAY_MS;
    await discovery.askDue();
    expect(await items(discovery)).to.have.lengthOf(1);
    now += 3 * DAY_MS;
    await store.sweep();
    expect(await items(discovery)).to.deep.equal([]);
    await discovery.askDue();
    expect(asked.filter((path) => path === "/down")).to.have.lengthOf(3);
  });

  it("forgets a resource whose host never answers", async () => {
    respond = undefined;
    const discovery = open({ inAll: 1 });
    await discovery.note(extensions, `${origin}/a`);
    await discovery.askDue();
    expect((await discovery.note(extensions, `${origin}/b`))?.status).to.equal("rejected");
    now += DAY_MS;
    await store.sweep();
    expect((await discovery.note(extensions, `${origin}/b`))?.status).to.equal("processing");
  });

  it("limits the listings of a host, and of all hosts", async () => {
    const discovery = open({ perHost: 2, inAll: 3 });
    const statuses: unknown[] = [];
    for (const url of ["http://a/1", "http://a/2", "http://a/3", "http://b/1", "http://c/1", "http://a/1"])
      statuses.push((await discovery.note(extensions, url))?.status);
    const [yes, no] = ["processing", "rejected"];
    expect(statuses).to.deep.equal([yes, yes, no, yes, no, yes]);
  });

  it("accepts listings up to the limit, and asks a few hosts at a time", async () => {
    const discovery = open({ perHost: MANY / 2, inAll: MANY / 2 });
    let noted = 0;
    for (let i = 0; i < MANY; i += 1)
      if ((await discovery.note(extensions, `${origin}/${i}`))?.status === "processing") noted += 1;
    expect(noted).to.equal(MANY / 2);
    await discovery.askDue();
    expect(asked).to.have.lengthOf(20);
    expect(await items(discovery)).to.have.lengthOf(20);
  });

  it("does not ask a host twice if two replicas ask at the same time", async () => {
    const [one, two] = [open(), open()];
    for (const path of ["/a", "/b", "/c"]) await one.note(extensions, origin + path);
    await Promise.all([one.askDue(), two.askDue()]);
    expect(asked.toSorted()).to.deep.equal(["/a", "/b", "/c"]);
  });

  it("lists the template if the path has parameters, and forgets the path", async () => {
    respond = (path) => ({
      status: 402,
      required: required(origin + path, {
        extensions: { bazaar: { ...extensions.bazaar, routeTemplate: "/users/:id" } },
      }),
    });
    const discovery = open();
    await discovery.note({ bazaar: extensions.bazaar }, `${origin}/users/alice`);
    await discovery.askDue();
    await discovery.askDue();
    expect(asked).to.deep.equal(["/users/alice", "/users/:id"]);
    expect((await items(discovery)).map(({ resource }) => resource)).to.deep.equal([`${origin}/users/:id`]);
  });

  it("removes a listing that cannot be read in time, and shows the others", async () => {
    const discovery = open({
      reader: openListingReader({ served: SERVED, startWorker: hangingAt("/slow"), deadlineMs: 500 }),
    });
    for (const path of ["/slow", "/a"]) await discovery.note(extensions, origin + path);
    await discovery.askDue();
    expect((await items(discovery)).map(({ resource }) => resource)).to.deep.equal([`${origin}/a`]);
    now += DAY_MS / 2;
    await discovery.askDue();
    expect(asked.toSorted()).to.deep.equal(["/a", "/slow"]);
    await discovery.close();
  });

  it("ends while a listing is being read, and keeps the listing", async () => {
    // The default deadline is longer than the time that this test may take.
    const discovery = open({
      reader: openListingReader({ served: SERVED, startWorker: hangingAt("/slow"), deadlineMs: DAY_MS }),
    });
    await discovery.note(extensions, `${origin}/slow`);
    const round = discovery.askDue().catch((error: unknown) => error);
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await discovery.close();
    expect(await round).to.be.instanceOf(Error);
    const other = open();
    now += 2 * HOUR_MS;
    await other.askDue();
    expect(await items(other)).to.have.lengthOf(1);
  });

  it("removes stored listings that a host could not list today", async () => {
    const discovery = open({ perHost: 60 });
    const paths = Array.from({ length: 60 }, (_, i) => `/${i}`);
    for (const path of paths) await discovery.note(extensions, origin + path);
    for (let round = 0; round < 3; round += 1) await discovery.askDue();
    expect(await items(discovery)).to.have.lengthOf(60);
    const { bazaar } = extensions;
    const times = { dueAt: now + DAY_MS, expiresAt: now + DAY_MS };
    const confirm = (path: string, changed: object) =>
      store.listings.confirm(
        { url: origin + path, method: "GET" },
        { ...times, payTo: WALLET, item: JSON.stringify({ extensions: { bazaar: { ...bazaar, ...changed } } }) },
      );
    for (const path of ["/3", "/44"])
      await confirm(path, { schema: { ...bazaar.schema, $recursiveRef: "https://a.example" } });
    await confirm("/55", { info: "text" });
    await confirm("/50", {});
    await discovery.checkStored();
    const left = new Set((await store.listings.stored(undefined, 1_000)).map(({ url }) => url));
    expect(paths.filter((path) => !left.has(origin + path))).to.deep.equal(["/3", "/44", "/55"]);
  });

  it("skips the listing without an error if the store does not answer", async () => {
    const discovery = open();
    await store.close();
    expect(await discovery.note(extensions, `${origin}/a`)).to.equal(undefined);
    store = await openStore({ url: await newUrl(), clock: () => now });
  });
});
