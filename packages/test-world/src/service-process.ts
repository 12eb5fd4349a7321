// The service as operators run it: a process of its own, started from its main file and ended by signals.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { ENDS_WITH_PARENT, STOPS_AT } from "@sotto/test-kit/programs";
import { PATIENT } from "./patient.ts";

const MAIN = join(import.meta.dirname, "..", "..", "service", "dist", "main.js");

export interface ServiceProcess {
  readonly url: string;
  readonly metricsUrl: string;
  readonly child: ChildProcess;
  /** Resolves with the signal that ended the process, or with its exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>;
}

/**
 * @param environment all its settings @param onLog called with each line that it logs @param killAt the service is
 * killed with SIGKILL as soon as a log line matches this @param main path of the program; default: the checkout's
 */
export async function startProcess(
  environment: Record<string, string>,
  onLog: (line: string) => void = () => undefined,
  killAt?: RegExp,
  main = MAIN,
): Promise<ServiceProcess> {
  const kill = killAt === undefined ? [] : [STOPS_AT, "SIGKILL", killAt.source];
  // `node --cpu-prof` of a bench profiles the service too.
  const profile = process.execArgv.filter((flag) => flag.startsWith("--cpu-prof"));
  const child = spawn(process.execPath, [...profile, ENDS_WITH_PARENT, ...kill, main], {
    env: { ...BASE_ENVIRONMENT, ...PATIENT, ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(signal ?? code)),
  );
  createInterface({ input: child.stdout! }).on("line", onLog);
  const said: string[] = [];
  const [url, metricsUrl] = await new Promise<[string, string]>((resolve, reject) => {
    void ended.then(() => reject(new Error(`the service ended:\n${said.join("\n")}`)));
    createInterface({ input: child.stderr! }).on("line", (line) => {
      said.push(line);
      const [, address, metrics = ""] = /service at (\S+): .*, metrics at (\S+);/.exec(line) ?? [];
      if (address !== undefined) resolve([address, metrics]);
    });
  }).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  return { url, metricsUrl, child, ended };
}

export async function stopProcess({ child, ended }: ServiceProcess): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}
