// Determines a task's result from turbo's summary and the task's report.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "./output.ts";
import { readReport, reportBase } from "./report.ts";
import type { Task } from "./tasks.ts";

const TAIL_LINES = 60;

/** The fields of turbo's summary (`--summarize`) that are read here. */
export interface RunSummary {
  readonly tasks: readonly {
    readonly taskId: string;
    readonly cache: { readonly status: "HIT" | "MISS" };
    readonly execution?: { readonly exitCode?: number | null };
  }[];
}

function tail(file: string): string {
  if (!existsSync(file)) return "";
  return readFileSync(file, "utf8").trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}

/** A task passed only if turbo ran it or found it in its cache, and, if it is a suite, its report is complete. */
export function readOutcome(root: string, task: Task, summary: RunSummary | undefined): Outcome {
  const { id, name, kind, folder, script } = task;
  const run = summary?.tasks.find(({ taskId }) => taskId === id);
  const cached = run?.cache.status === "HIT";
  const status = run?.execution?.exitCode;
  const log = join(root, folder, ".turbo", `turbo-${script.replaceAll(":", "$colon$")}.log`);
  const broken = (reason: string): Outcome => ({
    name,
    passed: 0,
    failures: [`${reason}\n${tail(log)}`],
    cached,
    tests: [],
  });
  if (run === undefined || (!cached && status === undefined)) return broken("it was not run");
  if (kind === "check")
    return cached || status === 0 ? { name, passed: 1, failures: [], cached, tests: [] } : broken(`exit ${status}`);
  const report = readReport(`${join(root, folder, reportBase(script))}.jsonl`);
  if (typeof report === "string") return broken(report);
  const { passed, failed } = report;
  const failures = failed.map(({ title, error }) => `${title}\n${error}`);
  if (failures.length === 0 && !cached && status !== 0) failures.push(`every test passed, but exit ${status}`);
  return { name, passed: passed.length, failures, cached, tests: [...passed, ...failed] };
}
