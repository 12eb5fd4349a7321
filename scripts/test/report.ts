// The report of a suite has one event per line and is written while the suite runs, so that after a crash the events up
// to that point remain. A report is complete if it ends with an "exit" event whose counts match its lines.
import { readFileSync } from "node:fs";

export type TestEvent =
  | { readonly event: "pass"; readonly title: string; readonly ms: number }
  | { readonly event: "fail"; readonly title: string; readonly ms: number; readonly error: string }
  | {
      readonly event: "group";
      readonly title: string;
      readonly passed: number;
      readonly failed: number;
      readonly seconds: number;
    }
  | { readonly event: "end" }
  | { readonly event: "exit"; readonly passed: number; readonly failed: number; readonly seconds: number };

type Of<Name extends TestEvent["event"]> = Extract<TestEvent, { event: Name }>;

export interface Report {
  readonly passed: readonly Of<"pass">[];
  readonly failed: readonly Of<"fail">[];
  /** Whether mocha ran to its end. */
  readonly ended: boolean;
  readonly exit: Of<"exit"> | undefined;
}

/** @param text a report, possibly incomplete: a partial last line is ignored */
export function parseReport(text: string): Report {
  const lines = text.split("\n").slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as TestEvent);
  const of = <Name extends TestEvent["event"]>(name: Name) =>
    events.filter((event): event is Of<Name> => event.event === name);
  const last = events.at(-1);
  return {
    passed: of("pass"),
    failed: of("fail"),
    ended: of("end").length === 1,
    exit: last?.event === "exit" ? last : undefined,
  };
}

/** @returns the report of a suite that ran to its end, or the reason why there is none */
export function readReport(file: string): Report | string {
  let report: Report;
  try {
    report = parseReport(readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "it left no report";
    return `its report cannot be read: ${(error as Error).message}`;
  }
  const { passed, failed, exit } = report;
  if (exit === undefined) return "its report is cut off";
  if (exit.passed !== passed.length || exit.failed !== failed.length) return "lines are missing in its report";
  if (passed.length + failed.length === 0) return "its report has no tests";
  return report;
}

/** Path of a task's report (`.jsonl`) and log (`.log`), without the extension. */
export const reportBase = (task: string): string => `.test/${task.replaceAll(":", "-")}`;
