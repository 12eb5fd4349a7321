// `pnpm service`, and what the container runs: the service until SIGINT or SIGTERM.
import { existsSync, readFileSync } from "node:fs";
import { createLog, runProgram } from "@sotto/server";
import { readConfig } from "./config/config.ts";
import { withDeployment } from "./config/deployment.ts";
import { withDevelopmentDefaults } from "./config/development.ts";
import { startService } from "./service.ts";

const readIfPresent = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

await runProgram(async () => {
  const config = readConfig(withDevelopmentDefaults(withDeployment(process.env, readIfPresent), readIfPresent));
  const log = createLog(config.logLevel);
  const service = await startService(config, log);
  const says = `sotto service at ${service.url}: chain ${config.chainId}, pool ${config.pool}, ${service.set} keys, relayer ${service.relayer}; Ctrl-C ends it`;
  return { says, log, shutdownMs: config.shutdownMs, close: service.close };
});
