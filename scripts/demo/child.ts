// A part of the story that is a process of its own, as it would be anywhere else. It ends with this one, however that
// ends, and leaves nothing behind.
import { fork } from "node:child_process";
import { join } from "node:path";
import { CommandError } from "../lib/command.ts";
import type { Cleanup } from "./cleanup.ts";

/** What a child says once: that it runs, or why it does not. */
export type ChildMessage<Started> =
  | { readonly started: Started }
  | { readonly error: { readonly code: string; readonly message: string } };

export interface ChildOptions {
  readonly environment: Record<string, string>;
  /** Sent to it over the IPC channel: for what does not belong into an environment. */
  readonly order?: object;
}

/**
 * @param script in this folder
 * @param cleanup ends it, from the moment on in which it begins
 * @throws CommandError with the child's code; CHILD_FAILED where it ended without a word
 */
export async function startChild<Started>(
  script: string,
  { environment, order }: ChildOptions,
  cleanup: Cleanup,
): Promise<Started> {
  const child = fork(join(import.meta.dirname, script), [], {
    env: environment,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    serialization: "advanced",
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  cleanup.add(async () => {
    child.ref();
    child.kill("SIGTERM");
    await closed;
  });
  const message = await new Promise<ChildMessage<Started>>((resolve) => {
    const fail = (text: string) => resolve({ error: { code: "CHILD_FAILED", message: text } });
    child.once("message", (received: ChildMessage<Started>) => resolve(received));
    child.once("error", (error) => fail(error.message));
    void closed.then(() => fail(`${script} ended while it started`));
    if (order !== undefined) child.send(order, (error) => error && fail(error.message));
  });
  if ("error" in message) throw new CommandError(message.error.code, message.error.message);
  // A parent that ends without cleaning up is not kept alive by its children.
  child.unref();
  child.channel?.unref();
  return message.started;
}
