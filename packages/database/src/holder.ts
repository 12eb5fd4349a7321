import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

const own = new Set<string>();

/** A unique name, from which other processes on this machine can tell whether this process still runs. */
export function holderName(): string {
  const name = [encodeURIComponent(hostname()), process.pid, randomUUID()].join("/");
  own.add(name);
  return name;
}

/**
 * Whether the process with this name has ended. Only for a store in a file, whose users are all on one machine: a
 * killed service is then replaced at once instead of after its lease expires.
 */
export function isGone(holder: string): boolean {
  const [host, pid] = holder.split("/");
  if (host !== encodeURIComponent(hostname()) || !/^[1-9][0-9]*$/.test(pid ?? "")) return false;
  // In containers every service has the same pid. Another holder with the pid of this process has ended.
  if (Number(pid) === process.pid) return !own.has(holder);
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
