import { canAsk } from "../ask.ts";
import type { Context } from "../command.ts";
import { CliError, usage } from "../frame/errors.ts";

/** Characters a passphrase needs: scrypt makes a guess expensive, not impossible. */
const LEAST = 12;

/**
 * The passphrase of a backup: SOTTO_PASSPHRASE, or asked for on a terminal without showing it.
 * @param twice whether it is a new one: then it is asked for again, and has a least length
 */
export async function readPassphrase(context: Context, twice: boolean): Promise<string> {
  const given = context.environment["SOTTO_PASSPHRASE"];
  const passphrase = given !== undefined && given !== "" ? given : await ask(context, twice);
  if (twice && [...passphrase].length < LEAST) throw usage(`a passphrase needs ${LEAST} characters`);
  return passphrase.normalize("NFKC");
}

async function ask(context: Context, twice: boolean): Promise<string> {
  if (!canAsk(context))
    throw new CliError("KEY_MISSING", "SOTTO_PASSPHRASE is the passphrase, where nobody can be asked");
  const first = await hidden(context, "passphrase: ");
  if (twice && first !== (await hidden(context, "once more: "))) throw usage("the two are not the same");
  return first;
}

/** A line that is typed and not shown. */
function hidden({ streams, signal }: Context, question: string): Promise<string> {
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
