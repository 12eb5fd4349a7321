// The service as it is run: a process of its own, started by its main file, ended by signals.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

const MAIN = join(import.meta.dirname, "..", "..", "..", "packages", "verifier-service", "dist", "main.js");
const ENDS_WITH_PARENT = join(import.meta.dirname, "..", "..", "support", "ends-with-parent.mjs");
const START_TIMEOUT_MS = 60_000;

export interface ServiceProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Resolves with the signal or exit code that ended it. */
  readonly ended: Promise<NodeJS.Signals | number | null>;
}

/**
 * @param environment all its settings; @param onLog called with each line it logs
 */
export async function startProcess(
  environment: Record<string, string>,
  onLog: (line: string, child: ChildProcess) => void = () => undefined,
): Promise<ServiceProcess> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [ENDS_WITH_PARENT, MAIN], {
    env: { PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(signal ?? code)),
  );
  createInterface({ input: child.stdout! }).on("line", (line) => onLog(line, child));
  const said: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the service did not start:\n${said.join("\n")}`)),
      START_TIMEOUT_MS,
    );
    void ended.then(() => reject(new Error(`the service ended:\n${said.join("\n")}`)));
    createInterface({ input: child.stderr! }).on("line", (line) => {
      said.push(line);
      const address = /service at (\S+):/.exec(line)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  }).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  return { url, child, ended };
}

export async function stopProcess({ child, ended }: ServiceProcess): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}
