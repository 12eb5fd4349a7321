// Runs `npm run dev` as a user does, but skips the build.
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { freePort } from "@sotto/server";
import { eventually } from "@sotto/test-kit/eventually";

const MAIN = join(import.meta.dirname, "..", "..", "..", "packages", "dev", "src", "main.ts");
const PORTS = 8;

export interface Dev {
  readonly child: ChildProcess;
  /** All output so far. */
  output(): string;
  /** Waits for a line. @throws Error if the program exits first */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with its exit code, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export function startDev(...args: readonly string[]): Dev {
  const child = spawn(process.execPath, [MAIN, "--no-build", "--no-open", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
  let hasEnded = false;
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once("close", (code, signal) => {
      hasEnded = true;
      resolve(code ?? signal);
    }),
  );
  const until = (pattern: RegExp) =>
    eventually(async () => {
      const found = pattern.exec(text);
      if (found === null && hasEnded) throw new Error(`it ended:\n${text}`);
      return found ?? undefined;
    });
  return { child, output: () => text, until, ended };
}

/** The last line of its table. */
export const RUNNING = /^ +merchant +.*$/m;

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

const range = (first: number): number[] => Array.from({ length: PORTS }, (_, index) => first + index);

/** @returns the ports of this range that are in use */
export async function busyPorts(first: number): Promise<number[]> {
  const free = await Promise.all(range(first).map(isFree));
  return range(first).filter((_, index) => !free[index]);
}

/** The first of eight consecutive free ports. */
export async function freePorts(): Promise<number> {
  for (;;) {
    const first = await freePort("127.0.0.1");
    if ((await busyPorts(first)).length === 0) return first;
  }
}

/** @throws Error with the message of a JSON-RPC error */
export async function rpc<T>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", body });
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(error.message);
  return result;
}
