// What the test run prints. A log may be cut anywhere, or the run be ended: each failed test is told with its reason as
// soon as it failed, and once more at the very end.
import type { SuiteEvent } from "./events.ts";
import type { Outcome, Work } from "./work.ts";

const MESSAGE_LINES = 8;
const FRAMES = 3;
const WIDTH = 300;

export const seconds = (value: number) => `${value.toFixed(1)} s`;
const indent = (text: string) => text.replaceAll(/^/gm, "       ");
const cut = (line: string) => (line.length > WIDTH ? `${line.slice(0, WIDTH)} ...` : line);

/** An error's message and the frames of its stack that are ours, a dozen lines at most. */
function brief(error: string): string {
  const lines = error.split("\n").map(cut);
  const isFrame = (line: string) => /^\s+at /.test(line);
  const message = lines.filter((line) => !isFrame(line));
  const frames = lines.filter((line) => isFrame(line) && !/node_modules|node:/.test(line));
  const more = message.length > MESSAGE_LINES ? ["..."] : [];
  return [...message.slice(0, MESSAGE_LINES), ...more, ...frames.slice(0, FRAMES)].join("\n");
}

/** What is printed of an event of a suite, if anything. */
export function eventLines(name: string, event: SuiteEvent): string | undefined {
  if (event.event === "fail") return `  FAIL ${name}: ${event.title}\n${indent(brief(event.error))}`;
  if (event.event !== "group") return undefined;
  const failed = event.failed > 0 ? `, ${event.failed} failed` : "";
  const result = `${event.passed} passed${failed} (${seconds(event.seconds)})`;
  return `  ${failed === "" ? "ok  " : "FAIL"} ${name}: ${event.title}: ${result}`;
}

/** @param told how many of its failures were printed already, as events */
export function outcomeLines({ name, kind }: Work, outcome: Outcome, told: number): string {
  const summary = kind === "check" ? "" : `: ${outcome.passed} passed, ${outcome.failed} failed`;
  const line = `${outcome.failed === 0 ? "ok  " : "FAIL"} ${name}${summary} (${seconds(outcome.seconds)})`;
  return [line, ...outcome.failures.slice(told).map(indent)].join("\n");
}

/** The end of the run: how long it took, each failure in two lines, and the last line with the sums. */
export function summaryLines(outcomes: ReadonlyMap<Work, Outcome>, took: number): string {
  const sum = (field: "passed" | "failed") => [...outcomes.values()].reduce((all, outcome) => all + outcome[field], 0);
  const failures = [...outcomes].flatMap(([{ name }, outcome]) =>
    outcome.failures.map((failure) => {
      const [title = "", ...rest] = failure.split("\n").filter((line) => line.trim() !== "");
      return [`  ${cut(`${name}: ${title}`)}`, ...rest.slice(0, 1).map((line) => indent(cut(line)))].join("\n");
    }),
  );
  const all = failures.length === 0 ? [] : ["", "failures:", ...failures];
  return [
    "",
    `${seconds(took)}; logs in .sotto/test/`,
    ...all,
    `${sum("passed")} passed, ${sum("failed")} failed`,
  ].join("\n");
}
