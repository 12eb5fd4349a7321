// Programs to start before another one, as `node PROGRAM.. SCRIPT`.
import { join } from "node:path";

/** Ends the process when its parent ends. */
export const ENDS_WITH_PARENT = join(import.meta.dirname, "ends-with-parent.mjs");

/** Followed by a signal and a pattern: the process sends itself the signal as soon as its output matches. */
export const STOPS_AT = join(import.meta.dirname, "stops-at.mjs");
