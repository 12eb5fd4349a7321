// `pnpm service`, and what the container runs: the service until SIGINT or SIGTERM.
import { existsSync, readFileSync } from "node:fs";
import { SottoError } from "@sotto/protocol";
import closeWithGrace from "close-with-grace";
import { type Environment, readConfig } from "./config/config.ts";
import { withDevelopmentDefaults } from "./config/development.ts";
import { createLog } from "./ops/log.ts";
import { startService } from "./service.ts";

async function main(environment: Environment): Promise<void> {
  const config = readConfig(withDevelopmentDefaults(environment, readIfPresent));
  const log = createLog(config.logLevel);
  const service = await startService(config, log);
  closeWithGrace({ delay: config.shutdownMs, logger: false }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, "ending after an error nobody caught");
    else log.info({ signal }, "ending");
    await service.close();
  });
  // For people; programs read the logs. Standard error, so that standard output stays one JSON object a line.
  console.error(
    `sotto service at ${service.url}: chain ${config.chainId}, pool ${config.pool}, ${service.set} keys, relayer ${service.relayer}; Ctrl-C ends it`,
  );
}

function readIfPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

try {
  await main(process.env);
} catch (error) {
  const code = error instanceof SottoError ? error.code : "UNEXPECTED";
  const text = error instanceof Error ? error.message : String(error);
  console.error(`sotto: ${code}: ${text}`);
  process.exit(1);
}
