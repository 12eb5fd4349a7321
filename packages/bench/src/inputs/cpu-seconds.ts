import { execFileSync } from "node:child_process";

export interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  /** CPU time (user and system) that the process has used, s. Linux rounds it down to whole seconds. */
  readonly seconds: number;
}

/** The CPU time of every running process. */
export function cpuSeconds(): ProcessTime[] {
  const text = execFileSync("ps", ["-A", "-o", "pid=,ppid=,time="], { encoding: "utf8" });
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [pid, parent, time] = line.trim().split(/\s+/) as [string, string, string];
      return { pid: Number(pid), parent: Number(parent), seconds: secondsOf(time) };
    });
}

/** Parses [[days-]hours:]minutes:seconds. */
function secondsOf(time: string): number {
  const [clock, days = "0"] = time.split("-").reverse() as [string, string?];
  return clock.split(":").reduce((sum, part) => 60 * sum + Number(part), 0) + 86_400 * Number(days);
}
