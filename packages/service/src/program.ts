// Runs the service until SIGINT or SIGTERM. main.ts loads it after checking Node's version.
import { withPhoneDefaults } from "@sotto/phone-registry";
import { createLog, runProgram, runProgramCommand, withDeployment, withSettingsFile } from "@sotto/server";
import { deploymentSettings, readConfig, startService, withDevelopmentDefaults } from "@sotto/verifier-service";
import { EXTENSIONS } from "./extensions.ts";

const USAGE = `npm run service
  serve  runs the service (the default); its settings are environment variables, or lines of the file SOTTO_SETTINGS_FILE, which it
         reads again on SIGHUP: docs/operations.md`;

const read = () => {
  const environment = withDeployment(withSettingsFile(process.env), deploymentSettings);
  return readConfig(withPhoneDefaults(withDevelopmentDefaults(environment)), EXTENSIONS);
};

const serve = () =>
  runProgram(async () => {
    const config = read();
    const log = createLog(config.logLevel);
    const service = await startService(config, log);
    const says = `sotto service at ${service.url}: chain ${config.chainId}, pool ${config.pool}, ${service.set} keys, relayer ${service.relayers.join(" and ")}, metrics at ${service.metricsUrl}; press Ctrl-C to stop`;
    return { says, log, shutdownMs: config.shutdownMs, close: service.close, reload: () => service.reload(read) };
  });

await runProgramCommand(USAGE, { serve: { run: serve } });
