// A server for a bench in a process of its own, so that the two use different cores.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";

/** What a child sends once it has started. */
type ChildMessage = { readonly url: string } | { readonly error: string };

export interface ChildServer {
  readonly url: string;
  readonly process: ChildProcess;
  stop(): void;
}

/**
 * Starts a script of this folder, which calls `serveOrder`.
 * @param order what the script needs; it may contain secrets
 * @throws Error if it does not start, also if it ends without a message
 */
export async function startServer(script: string, order: object): Promise<ChildServer> {
  const child = fork(join(import.meta.dirname, script), [], { env: BASE_ENVIRONMENT, serialization: "advanced" });
  const message = await new Promise<ChildMessage>((resolve) => {
    child.once("message", (received: ChildMessage) => resolve(received));
    child.once("error", ({ message: error }) => resolve({ error }));
    child.once("close", () => resolve({ error: `${script} exited while starting` }));
    child.send(order, (error) => error && resolve({ error: error.message }));
  });
  if ("error" in message) throw new Error(message.error);
  return { url: message.url, process: child, stop: () => child.disconnect() };
}

/** For the child: starts what the parent ordered, and ends with the parent. @param start returns the server's URL */
export async function serveOrder<Order>(start: (order: Order) => Promise<string>): Promise<void> {
  process.once("disconnect", () => process.exit(0));
  const send = (message: ChildMessage) => process.send?.(message);
  try {
    const [order] = (await once(process, "message")) as [Order];
    send({ url: await start(order) });
  } catch (error) {
    send({ error: error instanceof Error ? error.message : String(error) });
    process.disconnect();
  }
}
