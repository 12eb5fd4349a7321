import { existsSync, readFileSync } from "node:fs";

/**
 * The most memory that this process had at any time, bytes. resourceUsage().maxRSS is no less than what the parent had when it
 * started this process, so Linux's own count is read.
 */
export function peak(): number {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}
