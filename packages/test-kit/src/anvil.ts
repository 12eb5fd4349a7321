// Anvil, a second implementation of a node. Hardhat's node alone could hide a dependence on its behaviour.
import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** Names of platforms and architectures in Anvil's packages. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

export interface Anvil {
  readonly url: string;
  /** Stops the node and waits until it has exited. May be called more than once. */
  stop(): Promise<void>;
}

/** Path of the binary for this platform, which is in a dependency of @foundry-rs/anvil. */
function binary(): string {
  const { platform, arch } = process;
  const brings = createRequire(createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json"));
  const name = `@foundry-rs/anvil-${platform}-${ARCHITECTURES[arch] ?? arch}`;
  return join(dirname(brings.resolve(`${name}/package.json`)), "bin", platform === "win32" ? "anvil.exe" : "anvil");
}

/**
 * Starts Anvil on a free port, with Hardhat's public accounts. It ends with this process, and leaves no files.
 * @param args options of its command line, in addition to the usual ones
 */
export async function startAnvil(...args: readonly string[]): Promise<Anvil> {
  const cache = ["--cache-path", temporaryFolder("anvil")];
  const all = [binary(), "--host", "127.0.0.1", "--port", "0", "--chain-id", "31337", "--accounts", "20", ...cache];
  const child = fork(join(import.meta.dirname, "binary-with-parent.mjs"), [...all, ...args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => {
        // A node that runs for hours prints megabytes.
        output = `${output}${text}`.slice(-10_000);
        const [, address] = /Listening on (\S+:\d+)/.exec(output) ?? [];
        if (address !== undefined) resolve(`http://${address}`);
      });
    void closed.then(() => reject(new Error(`Anvil ended while it started:\n${output}`)));
  });
  // The child does not keep the parent alive.
  child.unref();
  child.channel?.unref();
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
  const stop = () => {
    child.ref();
    child.kill("SIGTERM");
    return closed;
  };
  return { url, stop };
}
