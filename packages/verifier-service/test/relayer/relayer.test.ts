import { once } from "node:events";
import { PassThrough } from "node:stream";
import { ChainError } from "@sotto/chain";
import { createLog } from "@sotto/server";
import { eventually } from "@sotto/test-kit/eventually";
import { expect } from "chai";
import { createMetrics } from "../../src/ops/metrics.ts";
import type { RelayerContext } from "../../src/relayer/context.ts";
import { Progress, STALLED } from "../../src/relayer/progress.ts";
import { type Parts, RelayerLoop } from "../../src/relayer/relayer.ts";
import { LOCAL_RELAYER_CONFIG } from "../../src/relayer/types.ts";
import { openStore } from "../../src/store/index.ts";

/** The lease is renewed three times as often. */
const TTL = 3_000;
const STALLED_AFTER = 60_000;
const HEAD = { number: 7, timestamp: 1_790_000_000, hash: "0x" };

describe("the relayer's rounds", () => {
  it("log a failure by code and location, without secrets", async () => {
    const secrets = [
      "canary0path",
      `${"c0ffee".repeat(10)}c0ff`,
      "eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiJjYW5hcnkifQ.c2lnbmF0dXJl",
    ];
    const text = `https://node.example/${secrets[0]} 0x${secrets[1]} ${secrets[2]}`;
    const lines = new PassThrough();
    const store = await openStore({ url: "sqlite::memory:" });
    const follower = {
      catchUp: async () => {
        throw Object.assign(new Error(text, { cause: new Error(text) }), { code: text });
      },
    };
    const context = {
      store,
      config: LOCAL_RELAYER_CONFIG,
      clock: Date.now,
      progress: new Progress(Date.now),
      metrics: { count: () => {}, gauge: () => {}, accounts: () => {}, leads: () => {}, settledAfter: () => {} },
      log: createLog("debug", { write: (line: string) => void lines.write(line) }),
    };
    const loop = new RelayerLoop(context as unknown as RelayerContext, { follower } as unknown as Parts);
    loop.start();
    const [chunk] = await once(lines, "data");
    await loop.stop();
    await store.close();
    expect(String(chunk))
      .to.include("a round of the relayer failed")
      .and.include("UNEXPECTED")
      .and.include("relayer.test.ts");
    for (const secret of secrets) expect(String(chunk)).to.not.include(secret);
  });

  it("read the balances again if calls are simulated from an account without ETH", async () => {
    const store = await openStore({ url: "sqlite::memory:" });
    const follower = {
      catchUp: async () => {
        throw new ChainError("SENDER_UNFUNDED", "the sending account cannot pay for the gas of the call", {
          node: "n",
        });
      },
    };
    let reads = 0;
    const context = {
      store,
      config: { ...LOCAL_RELAYER_CONFIG, pollInterval: 5 },
      clock: Date.now,
      monotonic: Date.now,
      progress: new Progress(Date.now),
      metrics: createMetrics(),
      accounts: {
        async readBalances() {
          reads += 1;
          throw new Error("the node does not respond");
        },
      },
      log: createLog("silent"),
    };
    const loop = new RelayerLoop(context as unknown as RelayerContext, { follower } as unknown as Parts);
    loop.start();
    // A failure of that does not end the rounds.
    await eventually(async () => reads > 1);
    await loop.stop();
    await store.close();
  });

  /** A relayer whose rounds end when the test says so, with the metrics of the service. */
  async function openLoop() {
    const store = await openStore({ url: "sqlite::memory:" });
    const metrics = createMetrics();
    let endRound: (() => void) | undefined;
    const catchUp = () =>
      new Promise((resolve) => {
        endRound = () => resolve({ head: HEAD });
      });
    const none = { resolve: async () => new Set(), track: async () => {}, dispatchPayments: async () => false };
    const parts = {
      follower: { catchUp },
      resolver: none,
      tracker: none,
      dispatcher: { ...none, dispatchOthers: async () => false },
    };
    let now = 1_000_000;
    const progress = new Progress(() => now);
    const watched = progress.watch(store);
    const context = {
      store: watched,
      metrics,
      config: { ...LOCAL_RELAYER_CONFIG, leaseTtl: TTL, pollInterval: 5, stalledAfter: STALLED_AFTER },
      clock: () => now,
      monotonic: () => now,
      progress,
      accounts: {
        readBalances: async () => {},
        states: () => [{ address: "0x", role: "active", fault: undefined, open: 0, balance: 5n }],
      },
      chain: { balance: async () => 5n, block: async () => HEAD },
      log: createLog("silent"),
    };
    const loop = new RelayerLoop(context as unknown as RelayerContext, parts as unknown as Parts);
    loop.start();
    const gauges = async () =>
      (await metrics.registry.metrics())
        .split("\n")
        .filter((line) => /^sotto_relayer_(leader|balance|head_block)/.test(line));
    const shows = (leader: 0 | 1) =>
      eventually(async () => (await gauges()).includes(`sotto_relayer_leader ${leader}`));
    /** Lets rounds end until one has measured, and the next one hangs. @returns ends it */
    const hanging = () =>
      eventually(async () => {
        const end = endRound;
        if (end === undefined) return undefined;
        if ((await gauges()).length === 3) return end;
        endRound = undefined;
        end();
        return undefined;
      });
    const close = async () => {
      const stopping = loop.stop();
      endRound?.();
      await stopping;
      await store.close();
    };
    const later = (ms: number) => {
      now += ms;
    };
    return { store, watched, metrics, gauges, shows, hanging, close, later };
  }

  it("cease to show the leader's gauges as soon as another replica has the lease, even if a round hangs", async () => {
    const { store, gauges, shows, hanging, close } = await openLoop();
    const end = await hanging();
    expect(await gauges()).to.include("sotto_relayer_leader 1");
    // The round waits for a node while another replica takes over.
    await store.leases.acquire("relayer", "another", 600_000, () => true);
    await shows(0);
    expect(await gauges()).to.deep.equal(["sotto_relayer_leader 0"]);
    end();
    await close();
    expect(await gauges()).to.deep.equal(["sotto_relayer_leader 0"]);
  });

  it("cease to show them once the lease has expired without an answer of the database", async () => {
    const { store, gauges, shows, hanging, close, later } = await openLoop();
    const end = await hanging();
    expect(await gauges()).to.include("sotto_relayer_leader 1");
    const { acquire } = store.leases;
    let tries = 0;
    store.leases.acquire = async () => {
      tries += 1;
      throw new Error("no database");
    };
    later(TTL);
    await eventually(async () => tries > 0);
    // The lease may still be valid.
    expect(await gauges()).to.include("sotto_relayer_leader 1");
    later(1);
    await shows(0);
    expect(await gauges()).to.deep.equal(["sotto_relayer_leader 0"]);
    store.leases.acquire = acquire;
    await shows(1);
    end();
    await close();
    expect(await gauges()).to.deep.equal(["sotto_relayer_leader 0"]);
  });

  it("release the lease while one writes nothing for long, and lead again once it ends", async () => {
    const { store, watched, metrics, shows, hanging, close, later } = await openLoop();
    const end = await hanging();
    const count = async () => {
      const { values } = await metrics.registry.getSingleMetric("sotto_relayer_errors_total")!.get();
      return values.find(({ labels }) => labels["code"] === STALLED)?.value;
    };
    const acquire = () => store.leases.acquire("relayer", "another", 600_000);
    const lease = await store.database.db.selectFrom("leases").selectAll().executeTakeFirstOrThrow();
    // A write is progress: the first round reads the whole chain, page by page.
    later(STALLED_AFTER);
    await watched.asRelayer(lease, async () => {});
    later(STALLED_AFTER);
    await new Promise((resolve) => setTimeout(resolve, TTL / 2));
    expect([await count(), await acquire()]).to.deep.equal([0, undefined]);
    later(1);
    await shows(0);
    expect(await count()).to.equal(1);
    const other = (await eventually(acquire))!;
    await shows(0);
    await store.leases.release(other);
    end();
    await shows(1);
    expect(await count()).to.equal(1);
    await close();
  });
});
