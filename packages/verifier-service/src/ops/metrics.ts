import { type HttpMetrics, httpMetrics } from "@sotto/server";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { RelayerMetrics } from "../relayer/types.ts";

export interface ServiceMetrics extends HttpMetrics, RelayerMetrics {
  readonly registry: Registry;
  /** @param reason `valid`, or the reason why not */
  verified(reason: string): void;
  settled(status: string): void;
  /** @param requests number of requests that wait for a settlement */
  held(requests: number): void;
}

/** Labels are routes, statuses and codes. None identifies a payment or a payer. */
export function createMetrics(): ServiceMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "sotto_" });
  const verified = new Counter({
    name: "sotto_verify_total",
    help: "verifications by result: valid, or the reason why not",
    labelNames: ["result"],
    registers,
  });
  const settled = new Counter({
    name: "sotto_settle_answers_total",
    help: "responses to settle, deposit and withdraw by status",
    labelNames: ["status"],
    registers,
  });
  const held = new Gauge({ name: "sotto_settle_held", help: "requests that wait for a settlement", registers });
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  return {
    registry,
    ...httpMetrics(registry),
    verified: (result) => verified.inc({ result }),
    settled: (status) => settled.inc({ status }),
    held: (requests) => held.set(requests),
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
