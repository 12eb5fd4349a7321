import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "./frame/errors.ts";
import { type Session, scan } from "./session.ts";

const LOOK_MS = 500;

/** Options of commands that can wait for the chain. */
export const WAIT_OPTIONS = {
  wait: { value: "SECONDS", help: "waits until what it makes can be spent; 0 for not at all", short: "w" },
} as const;

/**
 * Looks at the chain until `done` says so.
 * @throws CliError PENDING when the time is over: nothing is lost, it only takes longer
 */
export async function waitUntil(session: Session, seconds: number, what: string, done: () => boolean): Promise<void> {
  const { output, signal } = session.context;
  const end = Date.now() + seconds * 1000;
  for (;;) {
    await scan(session);
    if (done()) return;
    if (Date.now() > end)
      throw new CliError("PENDING", `${what} is not there after ${seconds} s; sotto balance shows when`);
    output.progress(`waiting for ${what}`);
    await sleep(LOOK_MS, undefined, { signal });
  }
}
