import type { Chain } from "@sotto/chain";
import { expect } from "chai";
import type { EngineStatus } from "../../src/engine/index.ts";
import { createMetrics } from "../../src/ops/metrics.ts";
import { type SampledParts, sampledMetrics } from "../../src/ops/sampled-metrics.ts";
import { openStore, type Store } from "../../src/store/index.ts";

const NOW = 1_790_000_000_000;

type Metrics = ReturnType<typeof createMetrics>;

const linesOf = async ({ registry }: Metrics, pattern: RegExp): Promise<string[]> =>
  (await registry.metrics()).split("\n").filter((line) => !line.startsWith("#") && pattern.test(line));

describe("the service's metrics", () => {
  it("have every counter at 0 from the start, with the labels that faults will have", async () => {
    const metrics = createMetrics();
    const counters = await linesOf(metrics, /^sotto_(?!process|nodejs)\w+_total\b/);
    for (const line of counters) expect(line).to.match(/ 0$/);
    for (const shown of [
      'sotto_verify_total{result="valid"}',
      'sotto_verify_total{result="INVALID_PROOF"}',
      'sotto_settle_answers_total{status="failed"}',
      'sotto_relayer_failed_total{kind="payment",reason="EXPIRED"}',
      'sotto_relayer_errors_total{code="NODE_UNREACHABLE"}',
      'sotto_relayer_errors_total{code="STORE_UNAVAILABLE"}',
      'sotto_relayer_replacements_total{kind="settle"}',
      "sotto_relayer_reorganisations_total",
    ])
      expect(counters).to.include(`${shown} 0`);
    expect(await linesOf(metrics, /^sotto_relayer_settle_seconds_count/)).to.have.lengthOf(3);
  });

  it("count errors whose code is not known in advance, too", async () => {
    const metrics = createMetrics();
    metrics.count("relayer_failed_total", 1, { kind: "deposit", reason: "REVERTED_AMOUNT_ZERO" });
    const shown = await linesOf(metrics, /REVERTED_AMOUNT_ZERO/);
    expect(shown).to.deep.equal(['sotto_relayer_failed_total{kind="deposit",reason="REVERTED_AMOUNT_ZERO"} 1']);
  });

  it("show the leader's gauges only while this replica leads", async () => {
    const metrics = createMetrics();
    const gauges = () => linesOf(metrics, /^sotto_relayer_(leader|head_block|balance_wei|queued|broadcast)/);
    const follower = ["sotto_relayer_leader 0"];
    expect(await gauges()).to.deep.equal(follower);
    metrics.gauge("relayer_queued", 7);
    expect(await gauges()).to.deep.equal(follower);
    metrics.leads(true);
    metrics.gauge("relayer_queued", 7);
    metrics.gauge("relayer_head_block", 1e18);
    expect(await gauges()).to.deep.equal([
      "sotto_relayer_leader 1",
      "sotto_relayer_head_block 1000000000000000000",
      "sotto_relayer_queued 7",
    ]);
    metrics.leads(false);
    // A round that began before ends.
    metrics.gauge("relayer_queued", 8);
    expect(await gauges()).to.deep.equal(follower);
    metrics.leads(true);
    expect(await gauges()).to.deep.equal(["sotto_relayer_leader 1"]);
  });
});

describe("the metrics of accounts", () => {
  it("show what each account has and does, of present accounts only, while this replica leads", async () => {
    const metrics = createMetrics();
    const shown = () => linesOf(metrics, /^sotto_relayer_(balance_wei|account_)/);
    const active = { address: "0x01", role: "active", fault: undefined, open: 2, balance: 5n } as const;
    const failing = { address: "0x02", role: "draining", fault: "SIGNER_REFUSED", open: 1, balance: 0n } as const;
    const former = { address: "0x03", role: "former", fault: undefined, open: 1, balance: undefined } as const;
    metrics.accounts([active, failing, former]);
    expect(await shown()).to.deep.equal([]);
    metrics.leads(true);
    metrics.accounts([active, failing, former]);
    expect(await shown()).to.deep.equal([
      'sotto_relayer_balance_wei{account="0x01"} 5',
      'sotto_relayer_balance_wei{account="0x02"} 0',
      'sotto_relayer_account_open{account="0x01",role="active"} 2',
      'sotto_relayer_account_open{account="0x02",role="draining"} 1',
      'sotto_relayer_account_open{account="0x03",role="former"} 1',
      'sotto_relayer_account_fault{account="0x02",code="SIGNER_REFUSED"} 1',
    ]);
    metrics.accounts([active]);
    expect(await shown()).to.deep.equal([
      'sotto_relayer_balance_wei{account="0x01"} 5',
      'sotto_relayer_account_open{account="0x01",role="active"} 2',
    ]);
    metrics.leads(false);
    expect(await shown()).to.deep.equal([]);
  });
});

describe("the metrics that are read with each scrape", () => {
  let now: number;
  let store: Store;
  let metrics: Metrics;
  let nodes: Chain["nodes"];
  let engine: EngineStatus;
  beforeEach(async () => {
    now = NOW;
    store = await openStore({ url: "sqlite::memory:", clock: () => now });
    metrics = createMetrics();
    nodes = [];
    engine = {
      waiting: { trusted: 0, suspect: 0 },
      verifying: 0,
      threads: 2,
      failedNetworks: 0,
      refused: 0,
      deaths: 0,
      maxWaiting: 1024,
    };
  });
  afterEach(() => store.close());

  const open = (parts: Partial<SampledParts> = {}) =>
    sampledMetrics({
      registry: metrics.registry,
      config: {
        chainId: 8453,
        pool: `0x${"11".repeat(20)}`,
        artifactSet: "ceremony/first",
        gasBudget: 10n ** 18n,
        leastBalance: 10n ** 16n,
        maxHeld: 2_000,
      },
      chain: {
        get nodes() {
          return nodes;
        },
      },
      store,
      engine: {
        get status() {
          return engine;
        },
      },
      clock: () => now,
      sampling: { reuseMs: 0 },
      ...parts,
    });

  it("show the age of the oldest operation of each kind and state", async () => {
    open();
    const queue = async (id: string) =>
      store.operations.enqueueDeposit({
        ...{ id, digest: id, call: {}, client: "c", validUntil: NOW / 1000 + 600 },
        ...{ account: "0x01", amount: 1n, balance: 100n },
      });
    const ages = () => linesOf(metrics, /^sotto_operation_oldest_age_seconds\{.* [1-9]/);
    const counts = () => linesOf(metrics, /^sotto_operations\{.* [1-9]/);
    expect(await linesOf(metrics, /^sotto_operation(s|_oldest_age_seconds)\{.* 0$/)).to.have.lengthOf(12);
    await queue("a");
    now += 40_000;
    await queue("b");
    now += 2_500;
    expect(await ages()).to.deep.equal(['sotto_operation_oldest_age_seconds{kind="deposit",state="queued"} 42.5']);
    expect(await counts()).to.deep.equal(['sotto_operations{kind="deposit",state="queued"} 2']);
    const lease = (await store.leases.acquire("relayer", "me", 600_000))!;
    await store.asRelayer(lease, ({ operations }) => operations.ended("a", "failed", "REVERTED"));
    expect(await ages()).to.deep.equal(['sotto_operation_oldest_age_seconds{kind="deposit",state="queued"} 2.5']);
  });

  it("show how long the leader is silent, once it has completed a round", async () => {
    open();
    expect(await linesOf(metrics, /^sotto_relayer_silence_seconds/)).to.deep.equal([]);
    const lease = (await store.leases.acquire("relayer", "me", 600_000))!;
    await store.asRelayer(lease, ({ rounds }) => rounds.ended());
    expect(await linesOf(metrics, /^sotto_relayer_silence_seconds \d/)).to.have.lengthOf(1);
  });

  it("leave out what the database does not answer, and show the rest", async () => {
    const fails = async () => {
      throw new Error("no database");
    };
    open({ store: { operations: { open: fails }, sinceLastRound: fails } });
    const shown = await linesOf(metrics, /^sotto_(operation|relayer_silence|engine_threads|settle_held_max)/);
    expect(shown).to.deep.equal(["sotto_settle_held_max 2000", "sotto_engine_threads 2"]);
  });

  it("name nodes by position and host, also if two have one host", async () => {
    open();
    const faults = { NODE_UNREACHABLE: 0, NODE_ERROR: 0, NODE_INCONSISTENT: 0, WRONG_CHAIN: 0 };
    const node = { host: "rpc.example", requests: 5, seconds: 1.5, faults, paused: false, chosen: true, lag: 0 };
    nodes = [
      { ...node, faults: { ...faults, NODE_ERROR: 3 }, paused: true, chosen: false, lag: undefined },
      { ...node, requests: 9 },
    ];
    const first = 'node="0",host="rpc.example"';
    const second = 'node="1",host="rpc.example"';
    const shown = await linesOf(metrics, /^sotto_node_/);
    for (const line of [
      `sotto_node_requests_total{${first}} 5`,
      `sotto_node_requests_total{${second}} 9`,
      `sotto_node_request_seconds_total{${first}} 1.5`,
      `sotto_node_faults_total{${first},code="NODE_ERROR"} 3`,
      `sotto_node_faults_total{${first},code="WRONG_CHAIN"} 0`,
      `sotto_node_paused{${first}} 1`,
      `sotto_node_paused{${second}} 0`,
      `sotto_node_chosen{${first}} 0`,
      `sotto_node_chosen{${second}} 1`,
      `sotto_node_lag_blocks{${second}} 0`,
    ])
      expect(shown).to.include(line);
    expect(shown.filter((line) => line.startsWith("sotto_node_lag_blocks{"))).to.have.lengthOf(1);
    // The counters do not grow with each scrape.
    expect(await linesOf(metrics, /^sotto_node_/)).to.deep.equal(shown);
  });

  it("show the verify engine's queue and what it refused", async () => {
    open();
    engine = {
      ...engine,
      waiting: { trusted: 3, suspect: 1_021 },
      verifying: 4,
      failedNetworks: 9,
      refused: 17,
      deaths: 1,
    };
    expect(await linesOf(metrics, /^sotto_engine_/)).to.deep.equal([
      'sotto_engine_waiting_proofs{clients="trusted"} 3',
      'sotto_engine_waiting_proofs{clients="suspect"} 1021',
      "sotto_engine_waiting_proofs_max 1024",
      "sotto_engine_verifying_proofs 4",
      "sotto_engine_threads 2",
      "sotto_engine_suspect_networks 9",
      "sotto_engine_refused_total 17",
      "sotto_engine_thread_deaths_total 1",
    ]);
  });

  it("show the limits that alerts compare with", async () => {
    open();
    expect(
      await linesOf(metrics, /^sotto_(deployment_info|.*_budget_wei|.*_least_balance_wei|.*_max(_seconds)?) |info\{/),
    ).to.include.members([
      `sotto_deployment_info{chain_id="8453",pool="0x${"11".repeat(20)}",set="ceremony/first"} 1`,
      "sotto_relayer_gas_budget_wei 1000000000000000000",
      "sotto_relayer_least_balance_wei 10000000000000000",
      "sotto_settle_held_max 2000",
    ]);
  });
});
