import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { serialize } from "node:v8";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import type { ServerMessage, ServerOrder } from "./server-process.ts";

export interface ServerProcess {
  readonly url: string;
  /** Number of sales that began. */
  sold(): number;
  /** Resolves when the next sale begins. */
  nextSale(): Promise<void>;
  kill(): Promise<void>;
}

/** @param environment additional variables, and Node's options */
export async function startServerProcess(
  order: ServerOrder,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child: ChildProcess = fork(join(import.meta.dirname, "server-process.ts"), [], {
    env: { ...BASE_ENVIRONMENT, SERVER_ORDER: serialize(order).toString("base64"), ...environment },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let sold = 0;
  let waiting: (() => void)[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    void gone.then(() => reject(new Error("the server ended")));
    child.on("message", (message: ServerMessage) => {
      if ("url" in message) return resolve(message.url);
      if ("error" in message) return reject(new Error(message.error));
      sold += 1;
      for (const tell of waiting) tell();
      waiting = [];
    });
  });
  const kill = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  return { url, sold: () => sold, nextSale: () => new Promise((resolve) => waiting.push(resolve)), kill };
}
