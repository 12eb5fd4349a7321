// Runs commands in this process with in-memory streams, for tests without a chain or a service. The commands are those of
// the build, because sets of other packages throw its errors.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type CommandSet, run } from "@sotto/cli-kit";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { createSeedWords } from "@sotto/wallet";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** config.json of a wallet whose node and service do not respond. */
export const DEAD_CONFIG = {
  chainId: "31337",
  rpc: "http://127.0.0.1:9",
  pool: `0x${"12".repeat(20)}`,
  token: `0x${"34".repeat(20)}`,
  deploymentBlock: 0,
  set: "development",
  decimals: 6,
  symbol: "USDC",
  service: "http://127.0.0.1:9/zk",
  finality: 0,
} as const;

/** The version of the program that runs the commands. */
export const DEAD_VERSION = "4.0.2";

/** A wallet whose node and service do not respond. */
export class DeadHome {
  readonly folder = temporaryFolder("dead");
  readonly home = join(this.folder, "home");
  readonly words = createSeedWords();
  /** The time of the commands, ms; undefined for the machine's. */
  time: number | undefined;

  readonly #sets: readonly CommandSet[];

  /** @param sets of the program */
  constructor(sets: readonly CommandSet[] = []) {
    this.#sets = sets;
    mkdirSync(this.home, { mode: 0o700 });
    this.write("home/config.json", JSON.stringify(DEAD_CONFIG));
    this.write("home/seed", this.words);
  }

  write(name: string, content: string, mode = 0o600): string {
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode });
    return path;
  }

  /** @param answers the lines that the user types; undefined if there is no terminal */
  async run(
    args: readonly string[],
    environment: Readonly<Record<string, string | undefined>> = {},
    answers?: readonly string[],
    sets: readonly CommandSet[] = this.#sets,
  ): Promise<Ended> {
    const terminal = answers !== undefined;
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    if (terminal) Object.assign(stdin, { isTTY: true, setRawMode: () => stdin });
    else stdin.end();
    const waiting = [...(answers ?? [])];
    let [out, error] = ["", ""];
    stdout.on("data", (chunk) => {
      out += String(chunk);
    });
    stderr.on("data", (chunk) => {
      error += String(chunk);
      // Prompts end with a space.
      const answer = /(?:\? \[y\/N\] |: )$/.test(error) ? waiting.shift() : undefined;
      if (answer !== undefined) setImmediate(() => stdin.write(`${answer}\r`));
    });
    const streams = { stdin, stdout, stderr, terminal };
    const { signal } = new AbortController();
    const code = await run([...args, "--home", this.home], {
      streams,
      environment,
      signal,
      version: DEAD_VERSION,
      clock: () => this.time ?? Date.now(),
      sets,
    });
    return { code, stdout: out, stderr: error };
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Deletes a file. */
  remove(name: string): void {
    rmSync(join(this.folder, name));
  }

  /** Deletes the wallet. */
  empty(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
