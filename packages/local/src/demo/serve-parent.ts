// The service as a child process. It reports over the IPC channel, logs to standard error and ends with its parent.
import { EXTENSIONS } from "@sotto/service";
import { createLog, readConfig, type ServiceParts, startService } from "@sotto/verifier-service";
import type { ChildMessage, StartedService } from "./processes.ts";

export type ServiceMessage = ChildMessage<StartedService>;

/**
 * Starts the service with the settings of the environment, and reports its address, or why it did not start, to the
 * parent.
 */
export async function serveParent(parts: ServiceParts = {}): Promise<void> {
  const send = (message: ServiceMessage) => process.send?.(message);
  process.once("disconnect", () => process.exit(0));
  // The parent may have ended before the listener above was added.
  if (!process.connected) process.exit(0);
  // Ctrl-C reaches the whole process group; the parent decides when this process ends.
  process.on("SIGINT", () => {});

  try {
    const config = readConfig(process.env, EXTENSIONS);
    const log = createLog(config.logLevel, { write: (line: string) => void process.stderr.write(line) });
    const service = await startService(config, log, parts);
    process.once("SIGTERM", () => void service.close().finally(() => process.exit(0)));
    send({ started: { url: service.url, relayer: service.relayer } });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "SERVICE_FAILED";
    send({ error: { code, message: error instanceof Error ? error.message : String(error) } });
    process.disconnect();
  }
}
