// The registry as operators run it: a process of its own.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { PATIENT } from "@sotto/test-world/patient";

export const PROGRAM = join(import.meta.dirname, "..", "..", "..", "packages", "phone-registry", "dist", "main.js");

export interface RegistryProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Its output so far, on both streams. */
  readonly said: string[];
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<NodeJS.Signals | number | null>;
}

/** @param folder its working directory @param settings its environment besides BASE_ENVIRONMENT */
export async function startRegistryProcess(folder: string, settings: Record<string, string>): Promise<RegistryProcess> {
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: folder,
    env: { ...BASE_ENVIRONMENT, ...PATIENT, ...settings },
  });
  const said: string[] = [];
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once("exit", (code, signal) => resolve(signal ?? code)),
  );
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said.push(String(chunk));
        const address = /registry at (\S+):/.exec(said.join(""))?.[1];
        if (address !== undefined) resolve(address);
      });
    void ended.then(() => reject(new Error(`the registry ended:\n${said.join("")}`)));
  });
  return { url, child, said, ended };
}

/** Runs one of the program's other commands. */
export function runRegistry(folder: string, settings: Record<string, string>, args: string[], input = "") {
  const options = { cwd: folder, env: { ...BASE_ENVIRONMENT, ...settings }, input, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], options);
  return { status, stdout, stderr };
}
