import type { Environment } from "./output.ts";

/** A command in backticks; the capture group excludes the program's name. */
const COMMAND = /`sotto ([^`]*)`/g;
/** A word that needs no quotes in a shell. */
const PLAIN = /^[\w./~:@%+=-]+$/;

const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The value of --home, if it is given. */
function homeOf(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === "--home" || arg.startsWith("--home="));
  return args[at] === "--home" ? args[at + 1] : args[at]?.slice("--home=".length);
}

/**
 * Rewrites the commands in a text to what the user has to type: `sotto` if it is installed, otherwise the npm or pnpm
 * script of the checkout. Adds the --home of the current command.
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
