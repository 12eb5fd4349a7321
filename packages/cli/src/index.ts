export type { Command, CommandSet, Context, Program } from "./command.ts";
export { compose } from "./compose.ts";
export { createDirectPayment, type DirectPaymentRecord, payDirectly } from "./direct-payment.ts";
export { CLI_ERRORS, COMMAND_ERRORS } from "./error-definitions.ts";
export { EXIT, exitOf } from "./frame/exit.ts";
export type { Environment, Input, Sink, Streams } from "./frame/output.ts";
export { type RunOptions, run } from "./run.ts";
export { SETS } from "./sets.ts";
