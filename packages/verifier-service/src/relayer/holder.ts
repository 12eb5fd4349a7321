import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

const own = new Set<string>();

/** A name that no other relayer has, and by which others on this machine see whether its process still runs. */
export function holderName(): string {
  const name = [encodeURIComponent(hostname()), process.pid, randomUUID()].join("/");
  own.add(name);
  return name;
}

/**
 * Whether the process of this name has ended. Only where all that share a store are on one machine: a store in a file.
 * A service that was killed is then replaced at once, not when its lease runs out.
 */
export function isGone(holder: string): boolean {
  const [host, pid] = holder.split("/");
  if (host !== encodeURIComponent(hostname()) || !/^[1-9][0-9]*$/.test(pid ?? "")) return false;
  // In a container every service gets the same number: another who had this process's has ended.
  if (Number(pid) === process.pid) return !own.has(holder);
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
