export { EXIT, type ExitName, exitOf } from "./frame/exit.ts";
export type { Environment, Input, Sink, Streams } from "./frame/output.ts";
export { type RunOptions, run } from "./run.ts";
export { newTransfer, payTransfer, type TransferRecord } from "./transfer.ts";
