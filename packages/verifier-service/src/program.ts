// Runs the service until SIGINT or SIGTERM. main.ts loads it after checking Node's version.
import { createLog, runProgram, withDeployment } from "@sotto/server";
import { readConfig } from "./config/config.ts";
import { deploymentSettings } from "./config/deployment.ts";
import { withDevelopmentDefaults } from "./config/development.ts";
import { startService } from "./service.ts";

await runProgram(async () => {
  const config = readConfig(withDevelopmentDefaults(withDeployment(process.env, deploymentSettings)));
  const log = createLog(config.logLevel);
  const service = await startService(config, log);
  const says = `sotto service at ${service.url}: chain ${config.chainId}, pool ${config.pool}, ${service.set} keys, relayer ${service.relayer}; press Ctrl-C to stop`;
  return { says, log, shutdownMs: config.shutdownMs, close: service.close };
});
