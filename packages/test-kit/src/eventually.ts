import { setTimeout as sleep } from "node:timers/promises";

/** Maximum wait for something that is certain to happen, ms; even a slow machine needs less. */
export const WAIT = 300_000;

/** Waits until `check` returns a value. */
export async function eventually<T>(check: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + WAIT; ; await sleep(20)) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`not within ${WAIT} ms`);
  }
}
