// Runs the service until SIGINT or SIGTERM. main.ts loads it after checking Node's version.
import { withPhoneDefaults } from "@sotto/phone-registry";
import { createLog, runProgram, runProgramCommand, withDeployment } from "@sotto/server";
import { deploymentSettings, readConfig, startService, withDevelopmentDefaults } from "@sotto/verifier-service";
import { EXTENSIONS } from "./extensions.ts";

const USAGE = `npm run service
  serve  runs the service (the default); its settings are environment variables: docs/operations.md`;

const serve = () =>
  runProgram(async () => {
    const environment = withPhoneDefaults(withDevelopmentDefaults(withDeployment(process.env, deploymentSettings)));
    const config = readConfig(environment, EXTENSIONS);
    const log = createLog(config.logLevel);
    const service = await startService(config, log);
    const says = `sotto service at ${service.url}: chain ${config.chainId}, pool ${config.pool}, ${service.set} keys, relayer ${service.relayer}, metrics at ${service.metricsUrl}; press Ctrl-C to stop`;
    return { says, log, shutdownMs: config.shutdownMs, close: service.close };
  });

await runProgramCommand(USAGE, { serve: { run: serve } });
