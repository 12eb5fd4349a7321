// Metrics whose values are read with each scrape: nodes, operations, the verify engine, and the limits that they are compared with.
import type { Chain } from "@sotto/chain";
import { Sampled, type SampledOptions } from "@sotto/server";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import type { VerifyEngine } from "../engine/index.ts";
import type { OperationState, Store } from "../store/index.ts";
import { KINDS } from "./metrics.ts";

export interface SampledParts {
  readonly registry: Registry;
  readonly config: Pick<Config, "chainId" | "pool" | "artifactSet" | "gasBudget" | "leastBalance" | "maxHeld">;
  readonly chain: Pick<Chain, "nodes">;
  readonly store: Pick<Store, "sinceLastRound"> & { readonly operations: Pick<Store["operations"], "open"> };
  readonly engine: Pick<VerifyEngine, "status">;
  /** Now, ms. */
  readonly clock: () => number;
  /** When values of the database are read again. Default: as for `Sampled`. */
  readonly sampling?: SampledOptions | undefined;
}

export function sampledMetrics(parts: SampledParts): void {
  limitMetrics(parts);
  nodeMetrics(parts);
  operationMetrics(parts);
  engineMetrics(parts);
}

/** The settings that alerts compare with, so that thresholds follow the configuration. */
function limitMetrics({ registry, config }: SampledParts): void {
  const { chainId, pool, artifactSet } = config;
  const registers = [registry];
  const limit = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `sotto_${name}`,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  new Gauge({
    name: "sotto_deployment_info",
    help: "always 1; chain, pool and artifact set of the service",
    labelNames: ["chain_id", "pool", "set"],
    registers,
  }).set({ chain_id: String(chainId), pool, set: artifactSet }, 1);
  limit("relayer_gas_budget_wei", "SOTTO_GAS_BUDGET: maximum wei of a day (UTC)", () => Number(config.gasBudget));
  limit("relayer_least_balance_wei", "SOTTO_LEAST_BALANCE: not ready below this balance", () =>
    Number(config.leastBalance),
  );
  limit("settle_held_max", "SOTTO_MAX_HELD: maximum requests that wait for settlements", () => config.maxHeld);
}

/** A node is named by its position in SOTTO_RPC_URLS, from 0, and its host: the rest of a URL may contain a key. */
function nodeMetrics({ registry, chain }: SampledParts): void {
  const registers = [registry];
  const labels = () =>
    chain.nodes.map((status, index) => ({ labels: { node: String(index), host: status.host }, status }));
  const labelNames = ["node", "host"];
  type Status = Chain["nodes"][number];
  const gauge = (name: string, help: string, value: (status: Status) => number | undefined) =>
    new Gauge({
      name: `sotto_node_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels: of, status } of labels()) {
          const found = value(status);
          if (found !== undefined) this.set(of, found);
        }
      },
    });
  const counter = (name: string, help: string, value: (status: Status) => number) =>
    new Counter({
      name: `sotto_node_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels: of, status } of labels()) this.inc(of, value(status));
      },
    });
  counter("requests_total", "HTTP requests to the node; a batch counts as one", ({ requests }) => requests);
  counter("request_seconds_total", "time until the node responded, all requests together", ({ seconds }) => seconds);
  new Counter({
    name: "sotto_node_faults_total",
    help: "faults of the node by code",
    labelNames: [...labelNames, "code"],
    registers,
    collect() {
      this.reset();
      for (const { labels: of, status } of labels())
        for (const [code, count] of Object.entries(status.faults)) this.inc({ ...of, code }, count);
    },
  });
  gauge("paused", "1 if the node is used after all others: it was at fault, or is behind", ({ paused }) =>
    Number(paused),
  );
  gauge("chosen", "1 for the node that the next request goes to first", ({ chosen }) => Number(chosen));
  gauge(
    "lag_blocks",
    "blocks behind the newest block of all nodes; absent if the node did not respond",
    ({ lag }) => lag,
  );
}

const STATES: readonly OperationState[] = ["queued", "broadcast"];

/** Every replica reads the operations from the database, so they show even while no replica leads. */
function operationMetrics({ registry, store, clock, sampling }: SampledParts): void {
  const registers = [registry];
  const labelNames = ["kind", "state"];
  const open = new Sampled(async () => ({ operations: await store.operations.open(), now: clock() }), sampling);
  const silence = new Sampled(store.sinceLastRound, sampling);
  const each = KINDS.flatMap((kind) => STATES.map((state) => ({ kind, state })));
  const gauge = (name: string, help: string, value: (count: number, ageMs: number) => number) =>
    new Gauge({
      name: `sotto_${name}`,
      help,
      labelNames,
      registers,
      async collect() {
        const found = await open.get();
        this.reset();
        if (found === undefined) return;
        for (const { kind, state } of each) {
          const some = found.operations.find((one) => one.kind === kind && one.state === state);
          const age = some === undefined ? 0 : Math.max(0, found.now - some.oldest);
          this.set({ kind, state }, value(some?.count ?? 0, age));
        }
      },
    });
  gauge("operations", "operations that are not settled, failed or expired", (count) => count);
  gauge(
    "operation_oldest_age_seconds",
    "age of the oldest of these operations, 0 if there is none",
    (_, age) => age / 1000,
  );
  new Gauge({
    name: "sotto_relayer_silence_seconds",
    help: "time since the leader completed a round, by the database's clock; absent before the first",
    registers,
    async collect() {
      const ms = await silence.get();
      if (ms === undefined) this.remove();
      else this.set(ms / 1000);
    },
  });
}

function engineMetrics({ registry, engine }: SampledParts): void {
  const registers = [registry];
  type Status = VerifyEngine["status"];
  const gauge = (name: string, help: string, value: (status: Status) => number) =>
    new Gauge({
      name: `sotto_engine_${name}`,
      help,
      registers,
      collect() {
        this.set(value(engine.status));
      },
    });
  const counter = (name: string, help: string, value: (status: Status) => number) =>
    new Counter({
      name: `sotto_engine_${name}`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value(engine.status));
      },
    });
  new Gauge({
    name: "sotto_engine_waiting_proofs",
    help: "proofs that wait for a thread: suspect are those of clients that recently sent an invalid one, and wait behind others",
    labelNames: ["clients"],
    registers,
    collect() {
      const { trusted, suspect } = engine.status.waiting;
      this.set({ clients: "trusted" }, trusted);
      this.set({ clients: "suspect" }, suspect);
    },
  });
  gauge("waiting_proofs_max", "maximum proofs that wait; beyond it, some are refused", ({ maxWaiting }) => maxWaiting);
  gauge("verifying_proofs", "proofs that are being verified", ({ verifying }) => verifying);
  gauge("threads", "threads that verify proofs", ({ threads }) => threads);
  gauge(
    "suspect_networks",
    "networks that sent an invalid proof in the last five minutes",
    (status) => status.failedNetworks,
  );
  counter("refused_total", "proofs that were refused because too many waited", ({ refused }) => refused);
  counter("thread_deaths_total", "threads that ended unexpectedly", ({ deaths }) => deaths);
}
