import { NODE_FAULTS } from "@sotto/chain";
import { createRegistry, type HttpMetrics, httpMetrics } from "@sotto/server";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { SIGNER_ERRORS } from "../error-definitions.ts";
import { REASONS } from "../payments/checks.ts";
import { OWN_REASONS } from "../relayer/final-outcome.ts";
import { STALLED } from "../relayer/progress.ts";
import type { RelayerCounter, RelayerGauge, RelayerMetrics } from "../relayer/types.ts";
import type { OperationKind, TransactionKind } from "../store/index.ts";

export interface ServiceMetrics extends HttpMetrics, RelayerMetrics {
  readonly registry: Registry;
  /** @param reason `valid`, or the reason why not */
  verified(reason: string): void;
  settled(status: string): void;
  /** @param requests number of requests that wait for a settlement */
  held(requests: number): void;
}

export const KINDS: readonly OperationKind[] = ["payment", "deposit", "withdrawal"];
const TRANSACTIONS: readonly TransactionKind[] = ["settle", "deposit", "withdraw", "append", "cancel"];
/** Why operations fail most often; the names of the pool's errors follow REVERTED_ in others. */
const FAILURES = ["EXPIRED", "NULLIFIER_SPENT", "AUTHORIZATION_SPENT", ...OWN_REASONS];
const ERRORS = [
  ...NODE_FAULTS,
  ...Object.keys(SIGNER_ERRORS),
  "SENDER_UNFUNDED",
  "ESTIMATE_FAILED",
  "STORE_UNAVAILABLE",
  "LEASE_LOST",
  STALLED,
  "UNEXPECTED",
];

type Labels = Readonly<Record<string, readonly string[]>>;

/**
 * The relayer's counters: what they count, and the values of their labels that exist at 0 from the start. Prometheus does not see
 * an increase from nothing to 1, so it would miss the first fault.
 */
const COUNTERS: Readonly<Record<RelayerCounter, readonly [help: string, labels: Labels]>> = {
  relayer_settled_total: ["operations that were settled", { kind: KINDS }],
  relayer_failed_total: ["operations that failed or expired, by reason", { kind: KINDS, reason: FAILURES }],
  relayer_transactions_total: ["transactions that were sent, without replacements", { kind: TRANSACTIONS }],
  relayer_replacements_total: ["transactions that were replaced by one with higher fees", { kind: TRANSACTIONS }],
  relayer_reorganisations_total: ["reorganizations of the chain that changed blocks that were read", {}],
  relayer_front_run_total: ["operations that were settled by a transaction of another sender", { kind: KINDS }],
  relayer_gas_wei_total: ["cost of mined transactions, wei", { kind: TRANSACTIONS }],
  relayer_errors_total: ["rounds that failed, and operations that were deferred, by code", { code: ERRORS }],
};

/** The gauges that only the leader shows. */
const GAUGES: Readonly<Record<RelayerGauge, string>> = {
  relayer_head_block: "number of the newest block that the leader has read",
  relayer_head_timestamp_seconds: "time of the newest block that the leader has read, Unix seconds",
  relayer_gas_today_wei: "wei spent today (UTC), with the maximum cost of transactions that are not mined",
  relayer_queued: "operations that wait for a transaction",
  relayer_broadcast: "operations in a transaction that is not confirmed",
  relayer_queued_notes: "notes that are not in the tree yet, so not spendable",
};

/** Bounds of the time to settle: a block, some blocks, and the deadlines of payments. */
const SETTLE_SECONDS = [1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600];

/** Labels are routes, statuses and codes. None identifies a payment or a payer. */
export function createMetrics(): ServiceMetrics {
  const registry = createRegistry(new URL("../../package.json", import.meta.url));
  const registers = [registry];
  const counter = (name: string, help: string, labels: Labels) => {
    const made = new Counter({ name: `sotto_${name}`, help, labelNames: Object.keys(labels), registers });
    for (const values of combinations(labels)) made.inc(values, 0);
    return made;
  };
  const results = ["valid", ...REASONS];
  const verified = counter("verify_total", "verifications by result: valid, or the reason why not", {
    result: results,
  });
  const settled = counter("settle_answers_total", "responses to settle, deposit and withdraw by status", {
    status: ["success", "pending", "failed"],
  });
  const held = new Gauge({ name: "sotto_settle_held", help: "requests that wait for a settlement", registers });
  const seconds = new Histogram({
    name: "sotto_relayer_settle_seconds",
    help: "time from queueing an operation until its transaction was confirmed",
    labelNames: ["kind"],
    buckets: SETTLE_SECONDS,
    registers,
  });
  for (const kind of KINDS) seconds.zero({ kind });
  const leader = new Gauge({
    name: "sotto_relayer_leader",
    help: "1 if this replica leads: it sends the transactions; otherwise 0",
    registers,
  });
  const counters = Object.fromEntries(
    Object.entries(COUNTERS).map(([name, [help, labels]]) => [name, counter(name, help, labels)]),
  ) as Record<RelayerCounter, Counter>;
  const gauges = Object.fromEntries(
    Object.entries(GAUGES).map(([name, help]) => [name, new Gauge({ name: `sotto_${name}`, help, registers })]),
  ) as Record<RelayerGauge, Gauge>;
  const balances = new Gauge({
    name: "sotto_relayer_balance_wei",
    help: "balance of each account of the relayer, wei, read every 30 s",
    labelNames: ["account"],
    registers,
  });
  const opens = new Gauge({
    name: "sotto_relayer_account_open",
    help: "transactions that are not final, by account and its role: active, draining (sends nothing new) or former (no longer configured)",
    labelNames: ["account", "role"],
    registers,
  });
  const faults = new Gauge({
    name: "sotto_relayer_account_fault",
    help: "1 for each account whose signer does not work, with the code",
    labelNames: ["account", "code"],
    registers,
  });
  const forgetAccounts = () => {
    for (const gauge of [balances, opens, faults]) gauge.reset();
  };
  // A gauge without a value is not shown.
  const forget = () => {
    for (const gauge of Object.values(gauges)) gauge.remove();
    forgetAccounts();
  };
  forget();
  let isLeader = false;
  return {
    registry,
    ...httpMetrics(registry),
    verified: (result) => verified.inc({ result }),
    settled: (status) => settled.inc({ status }),
    held: (requests) => held.set(requests),
    count: (name, by = 1, labels = {}) => counters[name].inc(labels, by),
    gauge(name, value) {
      if (isLeader) gauges[name].set(value);
    },
    accounts(states) {
      if (!isLeader) return;
      forgetAccounts();
      for (const { address: account, role, open, balance, fault } of states) {
        opens.set({ account, role }, open);
        if (balance !== undefined) balances.set({ account }, Number(balance));
        if (fault !== undefined) faults.set({ account, code: fault }, 1);
      }
    },
    leads(leads) {
      isLeader = leads;
      leader.set(Number(leads));
      if (!leads) forget();
    },
    settledAfter: (kind, elapsed) => seconds.observe({ kind }, elapsed),
  };
}

/** Each combination of the labels' values. */
function combinations(labels: Labels): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (found, [name, values]) => found.flatMap((some) => values.map((value) => ({ ...some, [name]: value }))),
    [{}],
  );
}
