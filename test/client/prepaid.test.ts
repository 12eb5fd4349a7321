// Prepaid tokens of the paying fetch against the real resource server, service and chain.

import { fork } from "node:child_process";
import { join } from "node:path";
import { type WrapOptions, wrapFetch } from "@sotto/client";
import type { TypedDataSigner } from "@sotto/local/merchant/prepaid-keys";
import { PREPAID_HEADER, PREPAID_PATH, PREPAID_RECOVER_PATH, type WireSignedSchedule } from "@sotto/prepaid";
import { buyPrepaid, listPrepaid, type PrepaidOptions, prepaid } from "@sotto/prepaid/client";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { contractWallet } from "@sotto/test-world/contract-wallets";
import { openPrepaidMerchant, type PrepaidMerchant, PrepaidServer } from "@sotto/test-world/prepaid-server";
import type { LoggedRequest } from "@sotto/test-world/seen";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import { MemoryStore, type Wallet } from "@sotto/wallet";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import type { PrepaidReport, PrepaidTask } from "./support/prepaid-process.ts";

const VALUE = 1_000n;
const PACK = 100n * VALUE;

describe("prepaid tokens of a real resource server", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let merchant: PrepaidMerchant;
  let server: PrepaidServer;
  before(async () => {
    world = await openWorld();
    merchant = await openPrepaidMerchant(world, VALUE);
    server = await PrepaidServer.open(merchant);
  });
  after(() => server?.close());

  const options = (changes: Partial<PrepaidOptions> = {}): WrapOptions => ({
    services: [world.serviceUrl],
    maxPerRequest: VALUE,
    retryDelayMs: 10,
    methods: [prepaid({ maxPerHost: 2_000_000n, mirrors: [world.serviceUrl], buy: false, ...changes })],
  });
  const buy = (wallet: Wallet) => buyPrepaid(fetch, wallet, options(), { origin: server.url, value: VALUE });

  it("are bought with one payment, compared with the service's mirror, and pay for a hundred requests", async () => {
    const wallet = await payerWith(world, [2n * PACK]);
    const before = await merchant.received();
    expect(await buy(wallet)).to.include({ count: 100, state: "ready" });
    expect((await merchant.received()) - before).to.equal(PACK);
    const pay = wrapFetch(fetch, wallet, options());
    const from = server.requests.length;
    const paths = Array.from({ length: 100 }, (_, i) => `/page/${i}`);
    const answers = await Promise.all(paths.map(async (path) => (await pay(server.url + path)).text()));
    expect(answers).to.deep.equal(paths.map((path) => `sold ${path}`));
    expect((await merchant.received()) - before).to.equal(PACK);
    expect(server.events.filter(({ event }) => event === "redeemed")).to.have.length(100);
    const shown = server.requests.slice(from).filter(({ headers }) => headers.some(isTokenName));
    expect(shown.map(({ status }) => status)).to.deep.equal(Array.from({ length: 100 }, () => 200));
    expect((await listPrepaid(wallet))[0]).to.deep.include({ unspent: 0n, stopped: undefined });
    // Each purchase request came over a connection of its own.
    const ports = server.requests.filter(({ target }) => target.startsWith(PREPAID_PATH)).map(({ port }) => port);
    expect(new Set(ports).size).to.equal(ports.length);
    // Without tokens, the next request is paid singly.
    expect((await pay(`${server.url}/more`)).status).to.equal(200);
    expect((await merchant.received()) - before).to.equal(PACK + VALUE);
  });

  it("are bought in the background, and no request waits for them", async () => {
    const wallet = await payerWith(world, [PACK, 20n * VALUE]);
    const events: string[] = [];
    const prepaid = {
      buy: true,
      buyAfter: 1,
      maxDelayMs: 0,
      onPack: ({ kind }: { kind: string }) => events.push(kind),
    };
    const pay = wrapFetch(fetch, wallet, options(prepaid));
    expect((await pay(`${server.url}/first`)).status).to.equal(200);
    await eventually(async () => events.length > 0);
    expect(events).to.deep.equal(["bought"]);
    await pay(`${server.url}/second`);
    expect(server.events.filter(({ event }) => event === "redeemed" || event === "paid").at(-1)?.event).to.equal(
      "redeemed",
    );
  });

  it("are recovered if the connection breaks while the pack is delivered", async () => {
    const wallet = await payerWith(world, [PACK]);
    const before = await merchant.received();
    server.interfere = ({ target, headers }) => target.startsWith(`${PREPAID_PATH}?`) && headers.some(isProofName);
    expect(await buy(wallet)).to.include({ count: 100, state: "ready" });
    server.interfere = () => false;
    expect((await merchant.received()) - before).to.equal(PACK);
    expect(server.events.some(({ event }) => event === "recovered")).to.equal(true);
    expect((await wrapFetch(fetch, wallet, options())(`${server.url}/recovered`)).status).to.equal(200);
  });

  it("are found by a wallet that was restored from its words, and not paid again", async () => {
    const seed = new Uint8Array(32).map((_, i) => 3 * i + 5);
    const wallet = await payerWith(world, [2n * PACK], { seed, store: new MemoryStore() });
    await buy(wallet);
    const pay = wrapFetch(fetch, wallet, options());
    for (const path of ["/1", "/2"]) await pay(server.url + path);
    const before = await merchant.received();
    const restored = await openWallet(world, { seed, store: new MemoryStore() });
    expect(await buy(restored)).to.include({ restored: true, left: 100 });
    expect(await merchant.received()).to.equal(before);
    expect((await wrapFetch(fetch, restored, options())(`${server.url}/3`)).status).to.equal(200);
  });

  it("are returned by the server if the handler's connection breaks, and shown again to the same request", async () => {
    const wallet = await payerWith(world, [PACK]);
    await buy(wallet);
    let broken = 0;
    server.interfere = ({ headers }) => {
      if (broken > 1 || !headers.some(isTokenName)) return false;
      broken += 1;
      return true;
    };
    expect((await wrapFetch(fetch, wallet, options())(`${server.url}/broken`)).status).to.equal(200);
    server.interfere = () => false;
    const tokens = server.requests
      .filter(({ target }) => target === "/broken")
      .flatMap(({ headers }) => headers[headers.findIndex(isTokenName) + 1] ?? []);
    expect([broken, new Set(tokens.filter((text) => text.length === 472)).size]).to.deep.equal([2, 1]);
    expect((await listPrepaid(wallet))[0]?.unspent).to.equal(99n * VALUE);
  });

  it("are paid once and all of them work if the client is killed while it buys them", async () => {
    const seed = new Uint8Array(32).map((_, i) => 9 * i + 2);
    const folder = temporaryFolder("killed");
    const store = join(folder, "wallet.sqlite");
    await payerWith(world, [PACK, PACK, PACK], { seed, store: new SqliteStore(store) });
    const { chainId, pool, token, deploymentBlock, serviceUrl, node } = world;
    const place = { chainId, pool, token, deploymentBlock, serviceUrl, node: { url: node.url } };
    const task = { world: place, seed: Buffer.from(seed).toString("hex"), store, origin: server.url };
    const limits = { value: String(VALUE), maxPerHost: String(4n * PACK) };
    const run = (packs: number, kill?: Kill, paths: string[] = []) =>
      runClient({ ...task, ...limits, packs, paths }, server, kill);
    const [received, from, before] = [await merchant.received(), server.requests.length, server.events.length];
    const kills: [number, Kill][] = [
      [1, { at: isPurchase, when: "arrived" }],
      [1, { at: isPaid, when: "arrived" }],
      [1, { at: isRecovery, when: "arrived" }],
      [1, { at: isRecovery, when: "half answered" }],
      // From here on, each process first finishes the pack that the previous one left.
      [2, { at: isPaid, when: "answered" }],
      [3, { at: isPaid, when: "half answered" }],
    ];
    for (const [packs, kill] of kills)
      expect(await run(packs, kill), `${kill.at.name} ${kill.when}`).to.equal("SIGKILL");
    expect((await merchant.received()) - received).to.equal(3n * PACK);
    const paths = Array.from({ length: 300 }, (_, i) => `/killed/${i}`);
    expect(await run(3, undefined, paths)).to.deep.equal({
      left: [100, 100, 100],
      answers: paths.map((path) => `sold ${path}`),
    });

    expect((await merchant.received()) - received).to.equal(3n * PACK);
    const shown = server.requests.slice(from).filter(({ headers }) => headers.some(isTokenName));
    expect(shown.every(({ status }) => status === 200)).to.equal(true);
    const tokens = shown.map(({ headers }) => headers[headers.findIndex(isTokenName) + 1]);
    expect([tokens.length, new Set(tokens).size]).to.deep.equal([300, 300]);
    const redeemed = server.events.slice(before).filter(({ event }) => event === "redeemed");
    expect(redeemed).to.have.length(300);
  });

  it("of a merchant with a contract wallet are bought if the wallet accepts the schedule's signature", async () => {
    const wallet = await payerWith(world, [PACK]);
    const other = await openPrepaidMerchant(world, VALUE, await contractAccount(world));
    const selling = closedAfterTest(await PrepaidServer.open(other));
    const [{ schedule }] = (await other.filesOf(selling.url)).schedules as [WireSignedSchedule];
    const { signature } = (await merchant.filesOf(server.url)).schedules[0]!;
    const send: typeof fetch = async (input, init) =>
      String(input).endsWith("/keys") ? Response.json({ schedules: [{ schedule, signature }] }) : fetch(input, init);
    const wish = { origin: selling.url, value: VALUE };
    const error = await rejection(buyPrepaid(fetch, wallet, options({ fetch: send }), wish));
    expect(error.code).to.equal("PREPAID_SCHEDULE_REFUSED");
    expect(await buyPrepaid(fetch, wallet, options(), wish)).to.include({ state: "ready", count: 100 });
    expect((await wrapFetch(fetch, wallet, options())(`${selling.url}/contract`)).status).to.equal(200);
  });

  it("of another merchant with the same key ids are refused before anything is paid", async () => {
    const wallet = await payerWith(world, [PACK]);
    const other = closedAfterTest(await PrepaidServer.open(await openPrepaidMerchant(world, VALUE)));
    // The other server shows this merchant's schedule.
    const schedules = (await merchant.filesOf(server.url)).schedules;
    const send: typeof fetch = async (input, init) =>
      String(input) === `${other.url}${PREPAID_PATH}/keys` ? Response.json({ schedules }) : fetch(input, init);
    const wish = { origin: other.url, value: VALUE };
    const error = await rejection(buyPrepaid(fetch, wallet, options({ fetch: send }), wish));
    expect(error.code).to.equal("PREPAID_SCHEDULE_REFUSED");
    await wallet.scan();
    expect(wallet.balance().total).to.equal(PACK);
    expect(await buyPrepaid(fetch, wallet, options(), wish), "the control").to.include({ state: "ready" });
  });
});

/** A contract wallet as an account that signs typed data. */
async function contractAccount(world: World): Promise<TypedDataSigner> {
  const { address, sign } = await contractWallet(world);
  return { address, signTypedData: (domain, types, message) => sign({ domain, types, message } as never) };
}

/** The request at which the client is killed. */
interface Kill {
  readonly at: (request: LoggedRequest) => boolean;
  /** "arrived": the server does not process it. "answered": it does, and the client gets nothing, or half of the answer. */
  readonly when: "arrived" | "answered" | "half answered";
}

/**
 * Runs a client in a process of its own.
 *
 * @returns its report, or what ended it
 */
function runClient(task: PrepaidTask, server: PrepaidServer, kill?: Kill): Promise<PrepaidReport | string | null> {
  const child = fork(join(import.meta.dirname, "support", "prepaid-process.ts"), [], { stdio: "inherit" });
  let report: PrepaidReport | undefined;
  child.once("message", (message: PrepaidReport) => {
    report = message;
  });
  const die = () => child.kill("SIGKILL");
  server.interfere = (request, response) => {
    if (!kill?.at(request)) return false;
    if (kill.when === "arrived") return die();
    const end = response.end.bind(response) as () => void;
    response.end = ((body: Uint8Array) => {
      if (kill.when === "answered") die();
      else response.write(body.subarray(0, body.length / 2), die);
      // Ends the server's part of the connection, whose client no longer exists.
      child.once("exit", end);
      return response;
    }) as typeof response.end;
    return false;
  };
  child.send(task);
  return new Promise((resolve) =>
    child.once("exit", (_, signal) => {
      server.interfere = () => false;
      resolve(report ?? signal);
    }),
  );
}

const isPurchase = ({ target }: LoggedRequest): boolean => target.startsWith(`${PREPAID_PATH}?`);
const isPaid = (request: LoggedRequest): boolean => isPurchase(request) && request.headers.some(isProofName);
const isRecovery = ({ target }: LoggedRequest): boolean => target.startsWith(PREPAID_RECOVER_PATH);

const isTokenName = (text: string): boolean => text.toLowerCase() === PREPAID_HEADER.toLowerCase();
const isProofName = (text: string): boolean => text.toLowerCase() === "x-payment-proof";
