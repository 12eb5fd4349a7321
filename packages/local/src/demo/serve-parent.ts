// A server as a child process. It reports over the IPC channel, logs to standard error and ends with its parent.

import { createLog, type LogLevels, type ServiceLog } from "@sotto/server";
import { EXTENSIONS } from "@sotto/service";
import { readConfig, type ServiceParts, startService } from "@sotto/verifier-service";
import type { ChildMessage, StartedService } from "./processes.ts";

export type ServiceMessage = ChildMessage<StartedService>;

/**
 * Starts the service with the settings of the environment, and reports its address, or why it did not start, to the
 * parent.
 */
export const serveParent = (parts: ServiceParts = {}): Promise<void> =>
  runForParent(async () => {
    const config = readConfig(process.env, EXTENSIONS);
    const service = await startService(config, logFor(config.logLevel), parts);
    return { started: { url: service.url, relayer: service.relayer }, close: () => service.close() };
  });

/** A log on standard error. */
export const logFor = (levels: string | LogLevels): ServiceLog =>
  createLog(levels, { write: (line: string) => void process.stderr.write(line) });

/** Starts a server, and reports what the parent needs, or why it did not start, to the parent. */
export async function runForParent<Started>(
  start: () => Promise<{ readonly started: Started; close(): Promise<void> }>,
): Promise<void> {
  const send = (message: ChildMessage<Started>) => process.send?.(message);
  process.once("disconnect", () => process.exit(0));
  // The parent may have ended before the listener above was added.
  if (!process.connected) process.exit(0);
  // Ctrl-C reaches the whole process group; the parent decides when this process ends.
  process.on("SIGINT", () => {});

  try {
    const { started, close } = await start();
    process.once("SIGTERM", () => void close().finally(() => process.exit(0)));
    send({ started });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "SERVER_FAILED";
    send({ error: { code, message: error instanceof Error ? error.message : String(error) } });
    process.disconnect();
  }
}
