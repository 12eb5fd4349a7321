// The output of a test run. Each failed test is printed with its reason as soon as it fails, because a log may be truncated
// or the run killed, and again at the end.
import type { TestEvent } from "./report.ts";

const MESSAGE_LINES = 8;
const FRAMES = 3;
const WIDTH = 300;
const SLOWEST = 10;

export const seconds = (value: number) => `${value.toFixed(1)} s`;
const indent = (text: string) => text.replaceAll(/^/gm, "       ");
const cut = (line: string) => (line.length > WIDTH ? `${line.slice(0, WIDTH)} ...` : line);

/** An error's message and the stack frames in this project, at most a dozen lines. */
function brief(error: string): string {
  const lines = error.split("\n").map(cut);
  const isFrame = (line: string) => /^\s+at /.test(line);
  const message = lines.filter((line) => !isFrame(line));
  const frames = lines.filter((line) => isFrame(line) && !/node_modules|node:/.test(line));
  const more = message.length > MESSAGE_LINES ? ["..."] : [];
  return [...message.slice(0, MESSAGE_LINES), ...more, ...frames.slice(0, FRAMES)].join("\n");
}

/** The lines to print for a suite's event; none for most events. */
export function eventLines(name: string, event: TestEvent): string | undefined {
  if (event.event === "fail") return `  FAIL ${name}: ${event.title}\n${indent(brief(event.error))}`;
  if (event.event === "group") {
    const failed = event.failed > 0 ? `, ${event.failed} failed` : "";
    const result = `${event.passed} passed${failed} (${seconds(event.seconds)})`;
    return `  ${failed === "" ? "ok  " : "FAIL"} ${name}: ${event.title}: ${result}`;
  }
  if (event.event === "exit") {
    const result = `${event.passed} passed, ${event.failed} failed (${seconds(event.seconds)})`;
    return `${event.failed === 0 ? "ok  " : "FAIL"} ${name}: ${result}`;
  }
  return undefined;
}

/** The result of a suite or a check. A check passes or fails as a whole. */
export interface Outcome {
  readonly name: string;
  readonly passed: number;
  /** One text for each failure, with the title in its first line. */
  readonly failures: readonly string[];
  readonly cached: boolean;
  readonly tests: readonly { readonly title: string; readonly ms: number }[];
}

/** The summary: duration, slowest tests, each failure in two lines, and a last line with the totals. */
export function summaryLines(outcomes: readonly Outcome[], took: number): string {
  const cached = outcomes.filter((outcome) => outcome.cached).length;
  const slowest = outcomes
    .filter((outcome) => !outcome.cached)
    .flatMap(({ name, tests }) => tests.map(({ title, ms }) => ({ ms, text: `${name}: ${title}` })))
    .sort((left, right) => right.ms - left.ms)
    .slice(0, SLOWEST)
    .map(({ ms, text }) => cut(`  ${seconds(ms / 1000).padStart(8)}  ${text}`));
  const failures = outcomes.flatMap(({ name, failures: failed }) =>
    failed.map((failure) => {
      const [title = "", ...rest] = failure.split("\n").filter((line) => line.trim() !== "");
      return [`  ${cut(`${name}: ${title}`)}`, ...rest.slice(0, 1).map((line) => indent(cut(line)))].join("\n");
    }),
  );
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  return [
    ...(slowest.length === 0 ? [] : ["", "slowest tests:", ...slowest]),
    "",
    `${seconds(took)}; ${outcomes.length} tasks, ${cached} of them unchanged since they passed; logs in .test/ of each package`,
    ...(failures.length === 0 ? [] : ["", "failures:", ...failures]),
    `${passed} passed, ${failures.length} failed`,
  ].join("\n");
}
