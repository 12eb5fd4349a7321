import type { Environment } from "./output.ts";

/** A command in backticks, without its program. */
const COMMAND = /`sotto ([^`]*)`/g;
/** What a shell takes as it is. */
const PLAIN = /^[\w./~:@%+=-]+$/;

const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The folder that --home names, if it is there. */
function homeOf(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === "--home" || arg.startsWith("--home="));
  return args[at] === "--home" ? args[at + 1] : args[at]?.slice("--home=".length);
}

/**
 * Commands that a text names, as they are typed here: by the program's name, or in a checkout as a script of npm or pnpm;
 * with the --home that this command was given.
 */
export function asTypedHere(text: string, environment: Environment, args: readonly string[] = []): string {
  const pnpm = environment["npm_config_user_agent"]?.startsWith("pnpm/") === true;
  const script = environment["npm_lifecycle_event"] === "sotto";
  const program = script ? (pnpm ? "pnpm -s sotto" : "npm run -s sotto --") : "sotto";
  const home = homeOf(args);
  const option = home === undefined ? "" : ` --home ${quoted(home)}`;
  const typed = text.replaceAll(COMMAND, (_, command: string) => `\`${program} ${command}${option}\``);
  return pnpm ? typed.replaceAll("`npm run ", "`pnpm ") : typed;
}
