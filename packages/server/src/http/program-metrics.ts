import { readFileSync } from "node:fs";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { Sampled } from "../ops/sampled.ts";
import type { Readiness } from "./health.ts";

/**
 * Creates the metrics of a program, with those of its process and `sotto_build_info`.
 * @param manifest the package.json of the program's package
 */
export function createRegistry(manifest: URL): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "sotto_" });
  const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));
  const build = new Gauge({
    name: "sotto_build_info",
    help: "always 1; package and version of the program",
    labelNames: ["package", "version"],
    registers: [registry],
  });
  build.set({ package: name, version }, 1);
  return registry;
}

/**
 * Shows each readiness check, and the first one that fails with its code. The checks run with each scrape; those that take long
 * show the last result for up to a minute.
 */
export function readinessMetrics(registry: Registry, readiness: () => Promise<Readiness>): void {
  const registers = [registry];
  // The readiness itself is evaluated at most once in two seconds.
  const sampled = new Sampled(readiness, { reuseMs: 0 });
  new Gauge({
    name: "sotto_ready",
    help: "1 if every readiness check is ok and the server is not closing, otherwise 0",
    registers,
    async collect() {
      const state = await sampled.get();
      if (state === undefined) this.remove();
      else this.set(Number(state.ready));
    },
  });
  new Gauge({
    name: "sotto_check_ok",
    help: "1 if the readiness check is ok, otherwise 0",
    labelNames: ["check"],
    registers,
    async collect() {
      const state = await sampled.get();
      this.reset();
      for (const [check, { ok }] of Object.entries(state?.checks ?? {})) this.set({ check }, Number(ok));
    },
  });
  new Gauge({
    name: "sotto_unready_cause",
    help: "1 for the first readiness check that fails, with its code; those after it may have failed because of it",
    labelNames: ["check", "code"],
    registers,
    async collect() {
      const state = await sampled.get();
      this.reset();
      if (state?.cause === undefined) return;
      this.set({ check: state.cause, code: state.checks[state.cause]?.code ?? "UNEXPECTED" }, 1);
    },
  });
}
