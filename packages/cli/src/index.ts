export { EXIT, type ExitName, exitOf } from "./frame/exit.ts";
export type { Streams } from "./frame/output.ts";
export { type RunOptions, run } from "./frame/run.ts";
