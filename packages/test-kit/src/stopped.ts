import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Waits until a process has stopped, as it does on SIGSTOP. @throws if it exits instead */
export async function stopped({ pid }: ChildProcess): Promise<void> {
  while (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.[0] !== "T") await sleep(20);
}
