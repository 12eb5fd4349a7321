import { Counter, Gauge, type Registry } from "prom-client";

/** Results of claims, also of those that were not stored. */
export const CLAIM_RESULTS = [
  "stored",
  "known",
  "ORIGIN_NOT_SETTLED",
  "ORIGIN_ROOT_STALE",
  "ORIGIN_ROOT_UNKNOWN",
  "ORIGIN_PROOF_INVALID",
  "ORIGIN_CLAIM_CONFLICT",
] as const;

/** What became of a claim. */
export type ClaimResult = (typeof CLAIM_RESULTS)[number];

/** What a curator counts. No label names a leaf, a nullifier or an account. */
export interface CuratorMetrics {
  judged(judge: string, verdict: "accept" | "refuse" | "wait" | "failed", count: number): void;
  claimed(result: ClaimResult): void;
  headSigned(): void;
}

/** What the metrics show of a set. */
export interface SetFigures {
  /** Time of the newest head, Unix seconds; undefined before the first. */
  readonly headTime: number | undefined;
  /** Leaves in the mask of the newest head. */
  readonly leaves: number;
  /** Deposits without a judgement. */
  readonly waiting: number;
  /** Entries of the log. */
  readonly entries: number;
  /** Whether this replica leads. */
  readonly leads: boolean;
}

/**
 * @param judges names of the judges, whose counters exist from the start
 * @param figures read when the metrics are
 */
export function curatorMetrics(
  registry: Registry,
  judges: readonly string[],
  figures: () => SetFigures,
  clock: () => number,
): CuratorMetrics {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `sotto_origin_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, value: (figures: SetFigures) => number | undefined) =>
    new Gauge({
      name: `sotto_origin_${name}`,
      help,
      registers,
      collect() {
        const found = value(figures());
        if (found !== undefined) this.set(found);
      },
    });
  const heads = counter("heads_total", "heads that this replica signed");
  const judgements = counter("judgements_total", "judgements by judge and verdict", "judge", "verdict");
  const claims = counter("claims_total", "claims by result", "result");
  for (const judge of new Set([...judges, "person"]))
    for (const verdict of ["refuse", "wait", "failed"]) judgements.inc({ judge, verdict }, 0);
  judgements.inc({ judge: "all", verdict: "accept" }, 0);
  for (const result of CLAIM_RESULTS) claims.inc({ result }, 0);
  gauge("head_age_seconds", "age of the newest head", ({ headTime }) =>
    headTime === undefined ? undefined : Math.max(0, clock() / 1000 - headTime),
  );
  gauge("set_leaves", "leaves in the set of the newest head", ({ leaves }) => leaves);
  gauge("waiting_deposits", "deposits without a judgement", ({ waiting }) => waiting);
  gauge("log_entries", "entries of the log", ({ entries }) => entries);
  gauge("leader", "1 if this replica leads, otherwise 0", ({ leads }) => (leads ? 1 : 0));
  return {
    judged: (judge, verdict, count) => judgements.inc({ judge, verdict }, count),
    claimed: (result) => claims.inc({ result }),
    headSigned: () => heads.inc(),
  };
}
