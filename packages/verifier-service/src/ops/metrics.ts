import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RelayerMetrics } from "../relayer/types.ts";

export interface HttpMetrics {
  /** @param route the route's pattern; @param seconds until the answer was sent */
  observe(method: string, route: string, status: number, seconds: number): void;
}

export interface ServiceMetrics extends HttpMetrics, RelayerMetrics {
  readonly registry: Registry;
  /** @param reason `valid`, or why not */
  verified(reason: string): void;
  settled(status: string): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Methods are a label, and a client chooses them. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Labels hold routes, statuses and codes: nothing that names a payment or who pays. */
export function createMetrics(): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "sotto_" });
  const seconds = new Histogram({
    name: "sotto_http_request_seconds",
    help: "time until an answer was sent",
    labelNames: ["method", "route", "status"],
    buckets: SECONDS,
    registers,
  });
  const verified = new Counter({
    name: "sotto_verify_total",
    help: "verifications by result: valid, or the reason why not",
    labelNames: ["result"],
    registers,
  });
  const settled = new Counter({
    name: "sotto_settle_answers_total",
    help: "answers to settle, deposit and withdraw by status",
    labelNames: ["status"],
    registers,
  });
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  return {
    registry,
    observe: (method, route, status, elapsed) =>
      seconds.observe({ method: METHODS.has(method) ? method : "OTHER", route, status: String(status) }, elapsed),
    verified: (result) => verified.inc({ result }),
    settled: (status) => settled.inc({ status }),
    count(name, by = 1, labels = {}) {
      let counter = counters.get(name);
      if (counter === undefined) {
        const labelNames = Object.keys(labels);
        counter = new Counter({ name: `sotto_${name}`, help: words(name), labelNames, registers });
        counters.set(name, counter);
      }
      counter.inc(labels, by);
    },
    gauge(name, value) {
      let gauge = gauges.get(name);
      if (gauge === undefined) {
        gauge = new Gauge({ name: `sotto_${name}`, help: words(name), registers });
        gauges.set(name, gauge);
      }
      gauge.set(value);
    },
  };
}

const words = (name: string) => name.replaceAll("_", " ");
