// Starts the service as a child process of the tests.
import { fork } from "node:child_process";
import { join } from "node:path";
import type { ServiceMessage } from "@sotto/local/demo/serve-parent";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";

export interface ServiceChild {
  readonly url: string;
  close(): Promise<void>;
}

/** @param environment all its settings @throws Error with the service's error code */
export async function startServiceChild(environment: Record<string, string>): Promise<ServiceChild> {
  const child = fork(join(import.meta.dirname, "service-child-process.ts"), [], {
    env: { ...BASE_ENVIRONMENT, ...environment },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const message = await new Promise<ServiceMessage>((resolve) => {
    child.once("message", resolve);
    void closed.then(() => resolve({ error: { code: "SERVER_FAILED", message: "it ended while it started" } }));
  });
  // The service must not keep a run alive that ends without close(); it exits with the run.
  child.unref();
  child.channel?.unref();
  if ("error" in message) throw new Error(`${message.error.code}: ${message.error.message}`);
  const close = () => {
    child.ref();
    child.kill("SIGTERM");
    return closed;
  };
  return { url: message.started.url, close };
}
