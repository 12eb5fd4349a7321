import { SLOW_MS } from "./slow.ts";

interface Open {
  close(): Promise<unknown> | unknown;
}

const opened: Open[] = [];

afterEach(async function () {
  this.timeout(SLOW_MS);
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Closes `open` after the running test, whether it passes or fails; what was opened last is closed first. */
export function closedAfterTest<T extends Open>(open: T): T {
  opened.push(open);
  return open;
}
