import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ethersChain, poolInterface, shieldedAddressOf } from "@sotto/client";
import {
  type Address,
  defaultFinality,
  LOCAL_CHAIN_IDS,
  parseAddress,
  parseDeployment,
  SottoError,
} from "@sotto/protocol";
import { lockOf, setFolder } from "@sotto/prover";
import { Interface } from "ethers";
import type { Command, Context } from "../command.ts";
import { withNextStep } from "../explain.ts";
import { CliError, usage } from "../frame/errors.ts";
import { type Config, LOCAL_SERVICE, parseConfig, readConfig, writeConfig } from "../home/config.ts";
import { readInput, readText } from "../home/files.ts";
import { newSeed, parseSeed, readSeed, writeSeed } from "../home/seed.ts";
import { serviceOf } from "../session.ts";

/** Written by `npm run deploy:local`. */
const LOCAL_DEPLOYMENT = ".sotto/deployment.json";
const LOCAL_RPC = "http://127.0.0.1:8545";
const LOCAL_ARTIFACTS = "circuits/build";

const erc20 = new Interface(["function decimals() view returns (uint8)", "function symbol() view returns (string)"]);

export const init: Command = {
  name: "init",
  summary: "Makes a wallet: a config, and a key that nobody has seen.",
  positionals: [],
  options: {
    deployment: { value: "FILE", help: `manifest of the pool's deployment; default ${LOCAL_DEPLOYMENT}` },
    rpc: { value: "URL", help: `JSON-RPC node; default ${LOCAL_RPC} on a local chain` },
    service: { value: "URL", help: `base address of the service; default ${LOCAL_SERVICE} on a local chain` },
    artifacts: {
      value: "PLACE",
      help: "folder or address with circuits' files as circuits/build has them; default: the service's",
    },
    finality: {
      value: "N",
      help: "blocks on top of an event before it counts; default the manifest's, else 2, on a local chain 0",
    },
    words: { help: "reads 24 words from standard input in place of making new ones" },
    update: { help: "changes the config of a wallet that is there; its key stays" },
  },
  details: [
    "Nothing is sent. The node is asked whether the pool is there. The key is written to `seed` in the wallet's folder,",
    "mode 0600, and never shown: `sotto export --words` does that once you can write them down. SOTTO_SEED (24 words, or",
    "32 bytes as hex) takes the key's place and keeps it off this disk.",
  ],
  async run(context) {
    const { home, args, environment } = context;
    const update = args.flag("update");
    if (!update && existsSync(home.config))
      throw new CliError("WALLET_EXISTS", `there is a wallet in ${home.folder} already; --update changes its config`);
    const config = await configure(context, update ? readConfig(home) : undefined);
    if (update && existsSync(home.store)) expectSamePool(readConfig(home), config);
    await tryService(context, config, update && args.url("service") !== undefined);
    home.make();
    const made = update ? "kept" : await placeKey(context);
    writeConfig(home, config, update);
    const address = shieldedAddressOf(readSeed(home, environment), config);
    const { chainId, pool, token, service } = config;
    const local = LOCAL_CHAIN_IDS.includes(chainId);
    const next = `Next: \`sotto deposit ${local ? "5 --mint" : "AMOUNT"}\` puts ${local ? "test tokens" : "tokens"} in`;
    return {
      json: { home: home.folder, key: made, shieldedAddress: address, chainId, pool, token, service: service ?? null },
      text: [
        `wallet in ${home.folder} (key ${made})`,
        `pool ${pool} on chain ${chainId}`,
        `service ${service ?? "none"}`,
        `address ${address}`,
        ...(made === "new"
          ? ["Its 24 words are the only copy: `sotto export --words --show-secret` shows them", next]
          : []),
      ],
    };
  },
};

/**
 * Asks the service whether it is one, with the keys of the pool. A new wallet is told of a problem; the address that an
 * update brings is saved only if there is none.
 * @throws SottoError, CliError CONFIG_INVALID if the service is `required`
 */
async function tryService({ output, signal }: Context, config: Config, required: boolean): Promise<void> {
  if (config.service === undefined) return;
  output.progress("asking the service for its keys");
  try {
    const set = await serviceOf(config).artifactSet({ signal });
    if (set !== config.set)
      throw new CliError(
        "CONFIG_INVALID",
        `the service ${config.service} has keys of ${set}, the pool of ${config.set}`,
      );
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    const noPath =
      cause.details["status"] === 404 ? `; its base path may be missing, as in ${serviceOf(config).url}/zk` : "";
    const message = withNextStep(`${cause.message}${noPath}`, cause, config);
    if (required) throw new SottoError(cause.code, `nothing was saved: ${message}`, cause.details, { cause });
    output.note(`the service cannot be used yet: ${message}`);
  }
}

/** Another pool has other notes: what the store knows would be lost. */
function expectSamePool(before: Config, after: Config): void {
  if (before.pool === after.pool && before.chainId === after.chainId) return;
  throw new CliError("WALLET_EXISTS", "this wallet has notes of another pool: use another --home for this one");
}

async function placeKey({ home, args, environment, streams }: Context): Promise<"new" | "given" | "kept"> {
  const given = environment["SOTTO_SEED"];
  const words = args.flag("words");
  if (given !== undefined && given !== "") {
    if (words) throw usage("--words and SOTTO_SEED both give a key");
    parseSeed(given, "SOTTO_SEED");
    return "given";
  }
  if (words) {
    writeSeed(home, parseSeed(await readInput(streams.stdin, 4096), "standard input"));
    return "given";
  }
  // A key without a config: an init that did not get to its end, or a file put there by hand. It is used, not replaced.
  if (existsSync(home.key)) {
    readSeed(home, environment);
    return "kept";
  }
  writeSeed(home, newSeed());
  return "new";
}

/** What is said of the pool: where it is, and whose keys it has. */
type Place = Pick<Config, "chainId" | "pool" | "deploymentBlock" | "set"> & {
  readonly token?: Address;
  readonly finality?: number | undefined;
};

async function configure({ args, output }: Context, known: Config | undefined): Promise<Config> {
  const place: Place = readPlace(args.text("deployment"), known);
  const local = LOCAL_CHAIN_IDS.includes(place.chainId);
  const rpc = args.url("rpc") ?? known?.rpc ?? (local ? LOCAL_RPC : undefined);
  if (rpc === undefined) throw usage("--rpc is missing: a JSON-RPC node of the pool's chain");
  const service = args.url("service") ?? known?.service ?? (local ? LOCAL_SERVICE : undefined);
  // Before anything is written: no command could use it.
  if (service !== undefined) serviceOf({ service, chainId: place.chainId });
  const built = existsSync(resolve(LOCAL_ARTIFACTS, setFolder(place.set)));
  const fields = {
    ...place,
    chainId: String(place.chainId),
    rpc,
    service,
    artifacts: args.text("artifacts") ?? known?.artifacts ?? (local && built ? resolve(LOCAL_ARTIFACTS) : undefined),
    finality: args.integer("finality", 0, 1000) ?? place.finality ?? known?.finality ?? defaultFinality(place.chainId),
  };
  output.progress("asking the node about the pool");
  return parseConfig({ ...fields, ...(await tokenOf({ ...place, rpc })) }, "the node's answers");
}

/** @throws CliError CONFIG_INVALID; SottoError DEPLOYMENT_INVALID, ARTIFACT_SET_UNKNOWN */
function readPlace(given: string | undefined, known: Config | undefined): Place {
  if (given === undefined && known !== undefined) return known;
  if (given === undefined && !existsSync(LOCAL_DEPLOYMENT))
    throw usage(
      `there is no ${LOCAL_DEPLOYMENT} here: \`npm run deploy:local\` makes a pool on a local chain and writes it; ` +
        "for any other pool, --deployment FILE names its manifest",
    );
  const path = given ?? LOCAL_DEPLOYMENT;
  let json: unknown;
  try {
    json = JSON.parse(readText(path, 65_536));
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError("CONFIG_INVALID", `${path} is not JSON`, {}, { cause });
  }
  const { chainId, pool, token, deploymentBlock, set, finality } = parseDeployment(json);
  // Whose keys this program was not built with cannot be paid with.
  lockOf(set);
  return { chainId: BigInt(chainId), pool, token, deploymentBlock, set, finality };
}

/** What only the chain knows of the pool's token. @throws CliError CONFIG_INVALID, WalletError */
async function tokenOf({ rpc, chainId, pool, token: expected }: Place & { readonly rpc: string }) {
  const chain = ethersChain(rpc);
  try {
    const found = await chain.chainId();
    if (found !== chainId) throw new CliError("CONFIG_INVALID", `the node is on chain ${found}, expected ${chainId}`);
    if ((await chain.code(pool)) === "0x")
      throw new CliError("CONFIG_INVALID", `there is no contract at ${pool} on chain ${chainId}`);
    const ask = async (to: string, iface: Interface, name: string) =>
      iface.decodeFunctionResult(name, await chain.call({ to, data: iface.encodeFunctionData(name) }))[0] as unknown;
    const token = parseAddress(await ask(pool, poolInterface, "token"));
    if (expected !== undefined && expected !== token)
      throw new CliError("CONFIG_INVALID", `the pool holds token ${token}, not that of the deployment file`);
    const [decimals, symbol] = [await ask(token, erc20, "decimals"), await ask(token, erc20, "symbol")];
    return { token, decimals: Number(decimals), symbol };
  } finally {
    chain.close();
  }
}
