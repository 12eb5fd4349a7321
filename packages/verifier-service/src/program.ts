// The service as a program, once Node is known to be new enough for it (main.ts): serves until SIGINT or SIGTERM.
import { createLog, runProgram, withDeployment } from "@sotto/server";
import { readConfig } from "./config/config.ts";
import { deploymentSettings } from "./config/deployment.ts";
import { withDevelopmentDefaults } from "./config/development.ts";
import { startService } from "./service.ts";

await runProgram(async () => {
  const config = readConfig(withDevelopmentDefaults(withDeployment(process.env, deploymentSettings)));
  const log = createLog(config.logLevel);
  const service = await startService(config, log);
  const says = `sotto service at ${service.url}: chain ${config.chainId}, pool ${config.pool}, ${service.set} keys, relayer ${service.relayer}; Ctrl-C ends it`;
  return { says, log, shutdownMs: config.shutdownMs, close: service.close };
});
