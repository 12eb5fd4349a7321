import { canAsk, type Terminal } from "../ask.ts";
import { CliError, usage } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";

/** A short passphrase can be guessed despite scrypt. */
const MIN_LENGTH = 12;

type PassphraseContext = Terminal & { readonly environment: Environment };

/**
 * The passphrase of a backup: SOTTO_PASSPHRASE, or typed on a terminal that does not show it.
 * @param isNew whether to ask twice and to require the minimum length
 */
export async function readPassphrase(context: PassphraseContext, isNew: boolean): Promise<string> {
  const given = context.environment["SOTTO_PASSPHRASE"];
  const passphrase = given !== undefined && given !== "" ? given : await ask(context, isNew);
  if (isNew && [...passphrase].length < MIN_LENGTH)
    throw usage(`the passphrase must have at least ${MIN_LENGTH} characters`);
  return passphrase.normalize("NFKC");
}

async function ask(context: Terminal, twice: boolean): Promise<string> {
  if (!canAsk(context))
    throw new CliError("KEY_MISSING", "cannot ask without a terminal: set the passphrase in SOTTO_PASSPHRASE");
  const first = await hidden(context, "passphrase: ");
  if (twice && first !== (await hidden(context, "repeat the passphrase: "))) throw usage("the two passphrases differ");
  return first;
}

/** Reads a line without showing it. */
function hidden({ streams, signal }: Terminal, question: string): Promise<string> {
  const { stdin, stderr } = streams as unknown as Pick<NodeJS.Process, "stdin" | "stderr">;
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let line = "";
    const end = (finish: () => void) => {
      stdin.setRawMode(false);
      stdin.pause();
      stdin.off("data", read);
      stderr.write("\n");
      finish();
    };
    const read = (chunk: string) => {
      for (const key of chunk) {
        if (key === "\r" || key === "\n") return end(() => resolve(line));
        if (key === "\u0003" || key === "\u0004")
          return end(() => reject(new CliError("INTERRUPTED", "nothing was done")));
        line = key === "\u007f" || key === "\b" ? line.slice(0, -1) : line + key;
      }
      return undefined;
    };
    signal.addEventListener("abort", () => end(() => reject(new CliError("INTERRUPTED", "nothing was done"))));
    stdin.on("data", read);
  });
}
