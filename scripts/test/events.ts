// Follows the event file a suite writes through reporter.cjs.
import { existsSync, readFileSync } from "node:fs";

export type SuiteEvent =
  | { readonly event: "pass"; readonly title: string }
  | { readonly event: "fail"; readonly title: string; readonly error: string }
  | {
      readonly event: "group";
      readonly title: string;
      readonly passed: number;
      readonly failed: number;
      readonly seconds: number;
    }
  | { readonly event: "end" };

const POLL_MS = 500;

/**
 * Reports each event of `file` as it appears. `finish` stops following and returns all events; a last line that was
 * cut off by a crash is left out.
 */
export function readEvents(file: string, report: (event: SuiteEvent) => void): { finish(): SuiteEvent[] } {
  const seen: SuiteEvent[] = [];
  let consumed = 0;
  const read = () => {
    if (!existsSync(file)) return;
    const text = readFileSync(file, "utf8");
    const end = text.lastIndexOf("\n") + 1;
    for (const line of text.slice(consumed, end).split("\n")) {
      if (line === "") continue;
      const event = JSON.parse(line) as SuiteEvent;
      seen.push(event);
      report(event);
    }
    consumed = end;
  };
  const timer = setInterval(read, POLL_MS);
  return {
    finish: () => {
      clearInterval(timer);
      read();
      return seen;
    },
  };
}
