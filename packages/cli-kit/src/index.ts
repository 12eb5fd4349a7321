export { agrees, canAsk } from "./ask.ts";
export type { Charges, Command, CommandSet, Context, Program } from "./command.ts";
export { compose } from "./compose.ts";
export { createDirectPayment, type DirectPaymentRecord, payDirectly } from "./direct-payment.ts";
export { CLI_ERRORS } from "./error-definitions.ts";
export { amountFields, counted, listed, money } from "./format.ts";
export { Arguments, named, type OptionSpec, type OptionSpecs, toUrl } from "./frame/arguments.ts";
export { CliError, usage } from "./frame/errors.ts";
export { EXIT, exitOf } from "./frame/exit.ts";
export {
  type Environment,
  type Input,
  Output,
  printable,
  type Result,
  type Sink,
  type Streams,
} from "./frame/output.ts";
export { ACCOUNT_OPTIONS, readAccount } from "./home/account.ts";
export type { Attend, Attended } from "./home/attend.ts";
export { type Config, readConfig, type WalletLimits } from "./home/config.ts";
export { readKeyFile, readText, writePrivate } from "./home/files.ts";
export { loadHomeArtifacts } from "./home/open.ts";
export { type Limits, PAYING, parseLimits, payOptions } from "./paying.ts";
export { type RunOptions, run } from "./run.ts";
export { type Session, serviceOf, withChain, withWallet } from "./session.ts";
