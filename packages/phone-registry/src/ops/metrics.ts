import { Counter, Gauge, type Registry } from "prom-client";
import type { RegistryMetrics } from "../registry/options.ts";

const WINDOW_MS = 5 * 60_000;

export interface PhoneMetrics extends RegistryMetrics {
  /** @param outcome sent, failed */
  code(outcome: "sent" | "failed"): void;
  /** @param outcome asked, limited, failed */
  contractCheck(outcome: "asked" | "limited" | "failed"): void;
}

/**
 * Labels are operations, outcomes and quota scopes. No label identifies a number, wallet or client.
 * @param clock ms
 */
export function phoneMetrics(registry: Registry, clock: () => number = Date.now): PhoneMetrics {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `sotto_phone_${name}`, help, labelNames, registers });
  const operations = counter("operations_total", "operations of the phone registry by outcome", "operation", "outcome");
  const codes = counter("codes_total", "codes handed to the sender: sent or failed", "outcome");
  const checks = counter("contract_checks_total", "contract signatures: asked, limited or failed", "outcome");
  for (const outcome of ["sent", "failed"]) codes.inc({ outcome }, 0);
  for (const outcome of ["asked", "limited", "failed"]) checks.inc({ outcome }, 0);
  const highest = new Map<string, Highest>();
  new Gauge({
    name: "sotto_phone_quota_use",
    help: "highest used share of a lookup quota, or of all codes, in the last five minutes, 0 to 1",
    labelNames: ["scope"],
    registers,
    collect() {
      for (const [scope, use] of highest) this.set({ scope }, use.at(clock()));
    },
  });
  const unknown = new Gauge({
    name: "sotto_phone_unknown_share",
    help: "share of unknown numbers among the latest lookups, 0 to 1",
    registers,
  });
  const seen = new Gauge({
    name: "sotto_phone_unknown_share_lookups",
    help: "number of lookups that sotto_phone_unknown_share is computed from",
    registers,
  });
  return {
    count: (operation, outcome) => operations.inc({ operation, outcome }),
    quotaUse(scope, used) {
      const use = highest.get(scope) ?? new Highest();
      highest.set(scope, use);
      use.add(used, clock());
    },
    unknownShare(share, lookups) {
      unknown.set(share);
      seen.set(lookups);
    },
    code: (outcome) => codes.inc({ outcome }),
    contractCheck: (outcome) => checks.inc({ outcome }),
  };
}

/** The highest value of the current and the previous window. */
class Highest {
  #window = 0;
  #now = 0;
  #before = 0;

  add(value: number, now: number): void {
    this.#turn(now);
    this.#now = Math.max(this.#now, value);
  }

  at(now: number): number {
    this.#turn(now);
    return Math.max(this.#now, this.#before);
  }

  #turn(now: number): void {
    const window = Math.floor(now / WINDOW_MS);
    if (window === this.#window) return;
    this.#before = window === this.#window + 1 ? this.#now : 0;
    this.#now = 0;
    this.#window = window;
  }
}
