// The service as a child process of the demo: it reports over the IPC channel and ends with its parent, however that
// ends. Its logs go to standard error.
import { createLog, readConfig, startService } from "@sotto/verifier-service";
import type { ChildMessage } from "./child.ts";

export interface StartedService {
  /** Base address, with the base path. */
  readonly url: string;
  /** Address of the account that pays the gas, in lower case. */
  readonly relayer: string;
}

export type ServiceMessage = ChildMessage<StartedService>;

const send = (message: ServiceMessage) => process.send?.(message);
process.once("disconnect", () => process.exit(0));
// The parent may be gone since before there was somebody to tell.
if (!process.connected) process.exit(0);
// Ctrl-C reaches the whole process group: the parent decides when its service ends.
process.on("SIGINT", () => {});

try {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel, { write: (line: string) => void process.stderr.write(line) });
  const service = await startService(config, log);
  process.once("SIGTERM", () => void service.close().finally(() => process.exit(0)));
  send({ started: { url: service.url, relayer: service.relayer } });
} catch (error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : "SERVICE_FAILED";
  send({ error: { code, message: error instanceof Error ? error.message : String(error) } });
  process.disconnect();
}
