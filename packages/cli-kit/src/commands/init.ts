import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Chain, ChainError, type ChainErrorCode, isAnotherContract, readDecimals, readPool } from "@sotto/chain";
import {
  type Address,
  defaultFinality,
  LOCAL_CHAIN_IDS,
  parseDeployment,
  SottoError,
  trimPasted,
} from "@sotto/protocol";
import { lockOf, setFolder } from "@sotto/prover";
import { shieldedAddressOf } from "@sotto/wallet";
import { LOCAL_NODE, LOCAL_SERVICE } from "@sotto/wallet/node";
import { Interface } from "ethers";
import type { Command, Context } from "../command.ts";
import { withNextStep } from "../explain.ts";
import { CliError, usage } from "../frame/errors.ts";
import { type Config, isSymbol, parseConfig, readConfig, writeConfig } from "../home/config.ts";
import { readInput, readText } from "../home/files.ts";
import { chainOf } from "../home/open.ts";
import { newSeed, parseSeed, readSeed, writeSeed } from "../home/seed.ts";
import { serviceOf } from "../session.ts";

/** Written by `npm run deploy:local`. */
const LOCAL_DEPLOYMENT = ".sotto/deployment.json";
const LOCAL_ARTIFACTS = "circuits/build";

const erc20 = new Interface(["function symbol() view returns (string)"]);
/** What amounts are called if the token has no symbol that a terminal can print. */
const NO_SYMBOL = "tokens";

/** Errors that mean that the user chose a wrong deployment or node. */
const WRONG_PLACE: readonly ChainErrorCode[] = ["WRONG_CHAIN", "POOL_NOT_DEPLOYED", "POOL_MISMATCH"];

export const init: Command = {
  name: "init",
  summary: "Creates a wallet: a config and a new key.",
  positionals: [],
  options: {
    deployment: { value: "FILE", help: `manifest of the pool's deployment; default ${LOCAL_DEPLOYMENT}` },
    rpc: { value: "URL", help: `JSON-RPC node; default ${LOCAL_NODE} on a local chain` },
    service: { value: "URL", help: `base URL of the service; default ${LOCAL_SERVICE} on a local chain` },
    artifacts: {
      value: "PLACE",
      help: "folder or URL of the circuits' files, laid out as circuits/build; default: the service",
    },
    finality: {
      value: "N",
      help: "blocks after an event before it counts; default: the manifest's, else 2 (local chains: 0)",
    },
    words: { help: "read the 24 words from standard input instead of creating new ones" },
    update: { help: "change the config of an existing wallet, but not its key" },
  },
  details: [
    "Sends no transaction; it only asks the node about the pool. The key goes into the file `seed` in the wallet's",
    "folder (mode 0600) and is not shown: write its 24 words down with `sotto export --words --show-secret`. To keep the",
    "key off this disk, set SOTTO_SEED (24 words, or 32 bytes as hex) instead.",
  ],
  async run(context) {
    const { home, args, environment } = context;
    const update = args.flag("update");
    if (!update && existsSync(home.config))
      throw new CliError(
        "WALLET_EXISTS",
        `there is already a wallet in ${home.folder}; change its config with --update`,
      );
    const config = await configure(context, update ? readConfig(home) : undefined);
    if (update && existsSync(home.store)) assertSamePool(readConfig(home), config);
    await tryService(context, config, update && args.url("service") !== undefined);
    home.make();
    const made = update ? "kept" : await placeKey(context);
    writeConfig(home, config, update);
    const address = shieldedAddressOf(readSeed(home, environment), config);
    const { chainId, pool, token, service } = config;
    const local = LOCAL_CHAIN_IDS.includes(chainId);
    const next = `Next: deposit ${local ? "test tokens" : "tokens"} with \`sotto deposit ${local ? "5 --mint" : "AMOUNT"}\``;
    return {
      json: { home: home.folder, key: made, shieldedAddress: address, chainId, pool, token, service: service ?? null },
      text: [
        `wallet in ${home.folder} (key ${made})`,
        `pool ${pool} on chain ${chainId}`,
        `service ${service ?? "none"}`,
        `address ${address}`,
        ...(made === "new"
          ? ["Its 24 words are the only backup: show them with `sotto export --words --show-secret`", next]
          : []),
      ],
    };
  },
};

/**
 * Asks the service whether it uses the pool's keys. For a new wallet, a problem is only reported; for an existing one,
 * the update is not saved.
 * @throws SottoError, CliError CONFIG_INVALID if the service is `required`
 */
async function tryService({ output, signal, program }: Context, config: Config, required: boolean): Promise<void> {
  if (config.service === undefined) return;
  output.progress("asking the service for its keys");
  try {
    const set = await serviceOf(config).artifactSet({ signal });
    if (set !== config.set)
      throw new CliError(
        "CONFIG_INVALID",
        `the service ${config.service} uses the keys ${set}, but the pool uses ${config.set}`,
      );
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    const noPath =
      cause.details["status"] === 404 ? `; the URL may lack its base path, as in ${serviceOf(config).url}/zk` : "";
    const message = withNextStep(`${cause.message}${noPath}`, cause, config, program.errors);
    if (required) throw new SottoError(cause.code, `the config was not changed: ${message}`, cause.details, { cause });
    output.note(`the service is not usable yet: ${message}`);
  }
}

/** Refuses a change of the pool, because the store's notes belong to one pool. */
function assertSamePool(before: Config, after: Config): void {
  if (before.pool === after.pool && before.chainId === after.chainId) return;
  throw new CliError(
    "WALLET_EXISTS",
    "this wallet has notes of another pool: create a wallet for this pool with another --home",
  );
}

async function placeKey({ home, args, environment, streams }: Context): Promise<"new" | "given" | "kept"> {
  const given = environment["SOTTO_SEED"];
  const words = args.flag("words");
  if (given !== undefined && given !== "") {
    if (words) throw usage("--words and SOTTO_SEED cannot be combined: both set the key");
    parseSeed(given, "SOTTO_SEED");
    return "given";
  }
  if (words) {
    writeSeed(home, parseSeed(await readInput(streams.stdin, 4096), "standard input"));
    return "given";
  }
  // A key without a config was left by an interrupted init, or the user put it there. Keys are never replaced.
  if (existsSync(home.key)) {
    readSeed(home, environment);
    return "kept";
  }
  writeSeed(home, newSeed());
  return "new";
}

/** The part of the pool's deployment that is known before the chain is queried. */
type KnownDeployment = Pick<Config, "chainId" | "pool" | "deploymentBlock" | "set"> & {
  readonly token?: Address | undefined;
  readonly finality?: number | undefined;
};

async function configure({ args, output, signal }: Context, known: Config | undefined): Promise<Config> {
  const deployment = readDeployment(args.text("deployment"), known);
  const local = LOCAL_CHAIN_IDS.includes(deployment.chainId);
  const rpc = args.url("rpc") ?? known?.rpc ?? (local ? LOCAL_NODE : undefined);
  if (rpc === undefined) throw usage("--rpc URL is missing: a JSON-RPC node of the pool's chain");
  const service = args.url("service") ?? known?.service ?? (local ? LOCAL_SERVICE : undefined);
  // Rejects a service that no command could use, before anything is written.
  if (service !== undefined) serviceOf({ service, chainId: deployment.chainId });
  const built = existsSync(resolve(LOCAL_ARTIFACTS, setFolder(deployment.set)));
  const fields = {
    ...deployment,
    // A known configuration has its limits parsed already; they are added below.
    limits: undefined,
    chainId: String(deployment.chainId),
    rpc,
    service,
    artifacts: args.text("artifacts") ?? known?.artifacts ?? (local && built ? resolve(LOCAL_ARTIFACTS) : undefined),
    finality:
      args.integer("finality", 0, 1000) ??
      deployment.finality ??
      known?.finality ??
      defaultFinality(deployment.chainId),
  };
  const { limits = {} } = known ?? {};
  output.progress("asking the node about the pool");
  const token = await tokenOf({ ...deployment, rpc }, signal);
  return { ...parseConfig({ ...fields, ...token }, "the node's answers"), limits };
}

/** @throws CliError CONFIG_INVALID; SottoError DEPLOYMENT_INVALID, ARTIFACT_SET_UNKNOWN */
function readDeployment(given: string | undefined, known: Config | undefined): KnownDeployment {
  if (given === undefined && known !== undefined) return known;
  if (given === undefined && !existsSync(LOCAL_DEPLOYMENT))
    throw usage(
      `there is no ${LOCAL_DEPLOYMENT} in this folder: create a pool on a local chain with \`npm run deploy:local\`, ` +
        "or choose another pool with --deployment FILE, its manifest",
    );
  const path = given ?? LOCAL_DEPLOYMENT;
  let json: unknown;
  try {
    json = JSON.parse(trimPasted(readText(path, 65_536)));
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw new CliError("CONFIG_INVALID", `${path} is not JSON`, {}, { cause });
  }
  const { chainId, pool, token, deploymentBlock, set, finality } = parseDeployment(json);
  // Rejects keys that this program was not built with.
  lockOf(set);
  return { chainId: BigInt(chainId), pool, token, deploymentBlock, set, finality };
}

/** Reads the pool's token from the chain. @throws CliError CONFIG_INVALID; ChainError */
async function tokenOf(
  { rpc, chainId, pool, token: expected }: KnownDeployment & { readonly rpc: string },
  signal: AbortSignal,
) {
  const chain = chainOf({ rpc, chainId }, signal);
  try {
    await chain.chainId();
    const { token } = await readPool(chain, pool);
    if (expected !== undefined && expected !== token)
      throw new CliError("CONFIG_INVALID", `the pool holds the token ${token}, but the manifest names ${expected}`);
    const decimals = await readDecimals(chain, token);
    return { token, decimals, symbol: await symbolOf(chain, token) };
  } catch (cause) {
    if (!(cause instanceof ChainError) || !WRONG_PLACE.includes(cause.code)) throw cause;
    const next = cause.code === "WRONG_CHAIN" ? "; choose another node with --rpc" : ` (chain ${chainId})`;
    throw new CliError("CONFIG_INVALID", `${cause.message}${next}`, {}, { cause });
  }
}

/** ERC-20 does not require a symbol: old tokens return 32 bytes, and others have letters that a terminal may not print. */
async function symbolOf(chain: Chain, token: string): Promise<string> {
  try {
    const symbol = await chain.read<unknown>(erc20, token, "symbol");
    return isSymbol(symbol) ? symbol : NO_SYMBOL;
  } catch (cause) {
    if (isAnotherContract(cause)) return NO_SYMBOL;
    throw cause;
  }
}
