// Runs the registry until SIGINT or SIGTERM, or the command in its first argument. main.ts loads it after checking Node's version.
import { createInterface } from "node:readline";
import type { DeploymentManifest } from "@sotto/protocol";
import {
  createLog,
  endWith,
  type ProgramCommand,
  runProgram,
  runProgramCommand,
  ServerError,
  withDeployment,
  withSettingsFile,
} from "@sotto/server";
import { withDevelopmentDefaults } from "./config/development.ts";
import { keysFor } from "./config/development-keys.ts";
import { newKey } from "./config/parse.ts";
import { readRegistryConfig } from "./config/registry-config.ts";
import { parseNumber } from "./http/numbers.ts";
import { openRegistry } from "./registry/open.ts";
import type { PhoneRegistry } from "./registry/phone-registry.ts";
import { startRegistry } from "./service.ts";

const USAGE = `sotto-phone-registry [command]
  serve      runs the server (the default)
  rotate     re-encrypts all records under the current keys; servers may run meanwhile
  keys       counts the records under older keys, and lists the keys that may be removed
  check      compares all links with the sealed ledger
  accept     accepts the current links as the new baseline, after an incident
  erase      reads a phone number from standard input and deletes its data
  new-key ID creates a key for SOTTO_PHONE_MASTER_KEYS or SOTTO_PHONE_INDEX_KEYS`;

/** The settings that a manifest determines. */
const deploymentSettings = ({ chainId, pool }: DeploymentManifest) => ({
  SOTTO_CHAIN_ID: String(chainId),
  SOTTO_POOL: pool,
});
const config = () =>
  readRegistryConfig(withDevelopmentDefaults(withDeployment(withSettingsFile(process.env), deploymentSettings)));

const serve = () =>
  runProgram(async () => {
    const settings = config();
    const log = createLog(settings.logLevel);
    const { url, service, close, reload } = await startRegistry(settings, log);
    const says = `sotto phone registry at ${url}: chain ${settings.chainId}, pool ${settings.pool}, wallets sign ${service}; press Ctrl-C to stop`;
    return { says, log, shutdownMs: settings.shutdownMs, close, reload: () => reload(config) };
  });

const refuse = async (): Promise<never> => {
  throw new ServerError("INTERNAL", "administrative commands send no codes and check no signatures");
};

/** Runs an administrative command on the database. Servers may use it at the same time. */
async function administer(action: (registry: PhoneRegistry) => Promise<object>): Promise<void> {
  const { phone } = config();
  const { store, chainId, pool, unverified, limits, service = "http://127.0.0.1" } = phone;
  const registry = await openRegistry({
    store,
    chainId,
    pool,
    service,
    unverified,
    limits,
    keys: keysFor(phone),
    signatures: { link: refuse, unlink: refuse },
    sender: { send: refuse },
  });
  try {
    console.log(JSON.stringify(await action(registry)));
  } finally {
    await registry.close();
  }
}

/** The number is not an argument, because other processes can see arguments and shells store them. */
async function readLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return "";
}

async function eraseNumber(registry: PhoneRegistry): Promise<object> {
  const { number: phone } = parseNumber(await readLine(), config().phone.defaultCountry);
  return registry.erase({ phone, client: "administrator" });
}

const ended = (action: (...values: string[]) => Promise<void>, takes = 0): ProgramCommand => ({
  takes,
  run: (...values) => endWith(() => action(...values)),
});

await runProgramCommand(USAGE, {
  serve: { run: serve },
  rotate: ended(() => administer((registry) => registry.rotate())),
  keys: ended(() => administer((registry) => registry.rotation())),
  check: ended(() => administer((registry) => registry.check())),
  accept: ended(() => administer((registry) => registry.check({ accept: true }))),
  erase: ended(() => administer(eraseNumber)),
  "new-key": ended(async (id: string) => {
    if (!/^[a-z0-9-]{1,16}$/.test(id))
      throw new ServerError(
        "INVALID_CONFIG",
        "a key id must have 1 to 16 characters of a-z, 0-9 and -, for example: new-key 2026-11",
      );
    console.log(newKey(id));
  }, 1),
});
