import { homedir } from "node:os";
import { join } from "node:path";
import { SottoError } from "@sotto/protocol";
import type { WalletProver } from "@sotto/wallet";
import { COMMON, type Command, type CommandSet, type Program } from "./command.ts";
import { compose } from "./compose.ts";
import { COMMAND_ERRORS } from "./error-definitions.ts";
import { Arguments } from "./frame/arguments.ts";
import { CliError, usage } from "./frame/errors.ts";
import { EXIT, exitOf } from "./frame/exit.ts";
import { nearest } from "./frame/nearest.ts";
import { type Environment, Output, printable, type Streams, toJson } from "./frame/output.ts";
import { asTypedHere } from "./frame/typed-command.ts";
import { commandHelp, overview } from "./help.ts";
import { Home } from "./home/home.ts";

/** The inputs and outputs of a command. */
export interface RunOptions {
  /** The command's input and outputs. */
  streams: Streams;
  /** Environment variables; the process's own are not read. */
  environment: Environment;
  /** Interrupts the command, which then ends with 130. */
  signal: AbortSignal;
  /** Returns the time, ms since the Unix epoch. Default: Date.now. */
  clock?: (() => number) | undefined;
  /** The version of the program, which `--version` prints. */
  version: string;
  /** Add commands, their errors and ways to pay. Default: none. */
  sets?: readonly CommandSet[] | undefined;
  /** Replaces the prover that loads the configured artifacts, for programs that run several commands. */
  prover?: WalletProver | undefined;
}

/**
 * Runs one command. It never throws.
 * @param args the arguments after the program's name
 * @returns the exit code
 */
export async function run(args: readonly string[], options: RunOptions): Promise<number> {
  const asked = args.slice(0, args.includes("--") ? args.indexOf("--") : undefined);
  const switches = { json: asked.includes("--json"), verbose: asked.includes("--verbose") };
  const typed = (text: string) => asTypedHere(text, options.environment, asked);
  const output = new Output(options.streams, { ...switches, typed });
  let errors = COMMAND_ERRORS;
  try {
    const program = compose(options.sets ?? []);
    errors = program.errors;
    return await execute(args, output, options, program);
  } catch (error) {
    output.clear();
    const ended = options.signal.aborted ? interrupted(error) : error;
    const exit = ended instanceof SottoError ? exitOf(ended.code, errors) : EXIT.failed.code;
    options.streams.stderr.write(`${report(ended, exit, switches.json, options.environment, typed)}\n`);
    return exit;
  }
}

async function execute(
  args: readonly string[],
  output: Output,
  options: RunOptions,
  program: Program,
): Promise<number> {
  const [first] = args;
  const { commands } = program;
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    output.raw(`${asTypedHere(overview(commands).join("\n"), options.environment)}\n`);
    return first === undefined ? EXIT.usage.code : EXIT.ok.code;
  }
  if (first === "--version") {
    const { version } = options;
    output.result({ json: { version }, text: [version] });
    return EXIT.ok.code;
  }
  const { command, rest } = find(args, commands);
  if (rest.includes("--help") || rest.includes("-h")) {
    output.raw(`${commandHelp(command).join("\n")}\n`);
    return EXIT.ok.code;
  }
  const parsed = new Arguments(rest, { ...COMMON, ...command.options }, command.positionals);
  const { streams, environment, signal, prover, clock: now = Date.now } = options;
  const home = new Home(parsed.text("home") ?? (environment["SOTTO_HOME"] || join(homedir(), ".sotto")));
  const context = { args: parsed, output, streams, home, environment, signal, now, program, prover };
  const result = await command.run(context);
  if (result !== undefined) output.result(result);
  return EXIT.ok.code;
}

/** Prefers a name of two words, so that `receipt check FILE` does not ask for a receipt of the payment "check". */
function find(args: readonly string[], commands: readonly Command[]): { command: Command; rest: readonly string[] } {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(" ");
    const command = commands.find((one) => one.name === name);
    if (command !== undefined) return { command, rest: args.slice(words) };
  }
  const names = commands.flatMap(({ name }) => [name, ...name.split(" ").slice(0, 1)]);
  const similar = nearest(args.slice(0, 2).join(" "), names) ?? nearest(args[0] ?? "", names);
  const meant = similar === undefined ? "" : `; did you mean \`sotto ${similar}\`?`;
  throw usage(`unknown command${meant || "; `sotto --help` lists the commands"}`);
}

function interrupted(cause: unknown): CliError {
  if (cause instanceof CliError && cause.code === "INTERRUPTED") return cause;
  return new CliError("INTERRUPTED", "interrupted: run the same command again to resume", {}, { cause });
}

/** Formats an error as one line or one JSON document. SOTTO_DEBUG=1 adds the stack trace. */
function report(
  error: unknown,
  exit: number,
  json: boolean,
  environment: Environment,
  typed: (text: string) => string,
): string {
  const coded = error instanceof SottoError;
  const code = coded ? error.code : "UNEXPECTED";
  const said = error instanceof Error ? printable(error.message) : "a value that is not an Error was thrown";
  const message = typed(said);
  if (json) return toJson({ error: { code, message, exit, details: coded ? error.details : undefined } });
  const line = `sotto: ${code}: ${message}`;
  return environment["SOTTO_DEBUG"] === "1" && error instanceof Error
    ? [line, ...(error.stack ?? "").split("\n").map(printable)].join("\n")
    : line;
}
