// The registry as a program, once Node is known to be new enough for it (main.ts): serves until SIGINT or SIGTERM, or runs
// the command that its first argument names.
import { createInterface } from "node:readline";
import type { DeploymentManifest } from "@sotto/protocol";
import { createLog, endWith, runProgram, ServerError, withDeployment } from "@sotto/server";
import { withDevelopmentDefaults } from "./config/development.ts";
import { keysFor } from "./config/development-keys.ts";
import { newKey } from "./config/parse.ts";
import { readRegistryConfig } from "./config/registry-config.ts";
import { parseNumber } from "./http/numbers.ts";
import { openRegistry } from "./registry/open.ts";
import type { PhoneRegistry } from "./registry/phone-registry.ts";
import { startRegistry } from "./service.ts";

const USAGE = `sotto-phone-registry [command]
  serve      answers until it is ended (without a command, too)
  rotate     brings all records under the current keys, while others serve
  keys       says what still rests on older keys, and which of them nothing does
  check      compares all links with the sealed account of them
  accept     takes the links that are there for right, after an incident
  erase      reads a phone number from standard input and forgets it
  new-key ID makes a key for SOTTO_PHONE_MASTER_KEYS or SOTTO_PHONE_INDEX_KEYS`;

/** A manifest says more than a registry has to know. */
const place = ({ chainId, pool }: DeploymentManifest) => ({ SOTTO_CHAIN_ID: String(chainId), SOTTO_POOL: pool });
const config = () => readRegistryConfig(withDevelopmentDefaults(withDeployment(process.env, place)));

const serve = () =>
  runProgram(async () => {
    const settings = config();
    const log = createLog(settings.logLevel);
    const { url, service, close } = await startRegistry(settings, log);
    const says = `sotto phone registry at ${url}: chain ${settings.chainId}, pool ${settings.pool}, signed for as ${service}; Ctrl-C ends it`;
    return { says, log, shutdownMs: settings.shutdownMs, close };
  });

const refuse = async (): Promise<never> => {
  throw new ServerError("INTERNAL", "an administrator's command sends and checks nothing");
};

/** Opens the registry's records beside whoever serves. */
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

/** Not an argument: those are seen by all programs of the machine and kept by shells. */
async function readLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return "";
}

async function eraseNumber(registry: PhoneRegistry): Promise<object> {
  const { number: phone } = parseNumber(await readLine(), config().phone.defaultCountry);
  return registry.erase({ phone, client: "administrator" });
}

const [command = "serve", argument = ""] = process.argv.slice(2);
const commands: Readonly<Record<string, () => Promise<void>>> = {
  serve,
  rotate: () => endWith(() => administer((registry) => registry.rotate())),
  keys: () => endWith(() => administer((registry) => registry.rotation())),
  check: () => endWith(() => administer((registry) => registry.check())),
  accept: () => endWith(() => administer((registry) => registry.check({ accept: true }))),
  erase: () => endWith(() => administer(eraseNumber)),
  "new-key": () =>
    endWith(async () => {
      if (!/^[a-z0-9-]{1,16}$/.test(argument))
        throw new ServerError("INVALID_CONFIG", "a key's id is 1 to 16 of a-z, 0-9 and -: new-key 2026-11");
      console.log(newKey(argument));
    }),
};
const run = Object.hasOwn(commands, command) ? commands[command]! : undefined;
if (run === undefined) {
  console.error(USAGE);
  process.exitCode = command === "help" || command === "--help" ? 0 : 1;
} else await run();
