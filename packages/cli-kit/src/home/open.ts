import type { Artifacts, Prover } from "@sotto/prover";
import { abortable, type Chain, connectChain, type Wallet } from "@sotto/wallet";
import {
  type ArtifactPlace,
  type OpenProverOptions,
  type OpenWalletOptions,
  openArtifacts,
  openProver,
  openWallet,
} from "@sotto/wallet/node";
import { CliError } from "../frame/errors.ts";
import type { Environment } from "../frame/output.ts";
import type { Config } from "./config.ts";
import type { Home } from "./home.ts";
import { readSeed } from "./seed.ts";

/** Retries of a failed request to the node; a scan sends many requests. */
const RETRIES = 3;
const NODE_TIMEOUT_MS = 60_000;
/** Maximum bytes of a node's response. A block range with more logs is halved. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** The chain that a config names. @param signal ends its requests */
export const chainOf = (
  { rpc, chainId }: { readonly rpc: string; readonly chainId: bigint },
  signal?: AbortSignal,
): Chain =>
  abortable(
    connectChain({
      urls: [rpc],
      chainId,
      timeoutMs: NODE_TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      retries: RETRIES,
    }),
    signal,
  );

/** Options for opening the wallet of a folder. */
export interface OpenHomeOptions
  extends Pick<OpenWalletOptions, "clock" | "onDownload" | "onCacheError" | "prover" | "signal"> {
  /** Environment variables; `SOTTO_SEED` replaces the key's file. */
  readonly environment: Environment;
  /** Default: the chain of the config. */
  readonly chain?: Chain | undefined;
}

/**
 * Locks and opens the wallet of a folder.
 * @throws CliError KEY_MISSING, KEY_FILE_UNSAFE; WalletError WALLET_BUSY; the errors of `openWallet`
 */
export async function openHomeWallet(home: Home, config: Config, options: OpenHomeOptions): Promise<Wallet> {
  const { environment, chain = chainOf(config), ...rest } = options;
  return openWallet({
    ...placeOf(home, config),
    deployment: config,
    seed: readSeed(home, environment),
    nodes: chain,
    store: home.store,
    ...rest,
  });
}

/**
 * Creates the prover of a folder's wallet, for programs that open the wallet again and again.
 * @throws the errors of `openProver` of @sotto/wallet/node
 */
export async function openHomeProver(
  home: Home,
  config: Config,
  options: Pick<OpenProverOptions, "onDownload" | "onCacheError"> = {},
): Promise<Prover | undefined> {
  return openProver({ ...placeOf(home, config), deployment: config, ...options });
}

/**
 * The circuits' files of a folder's config, for programs that only verify.
 * @throws CliError CONFIG_INVALID; the errors of `loadArtifacts` of @sotto/prover
 */
export async function loadHomeArtifacts(home: Home, config: Config, signal?: AbortSignal): Promise<Artifacts> {
  assertArtifacts(config);
  return (await openArtifacts({ ...placeOf(home, config), deployment: config }, signal))!;
}

/** @throws CliError CONFIG_INVALID if a config names no source of the circuits' files */
export function assertArtifacts({ artifacts, service }: Config): void {
  if (artifacts === undefined && service === undefined)
    throw new CliError(
      "CONFIG_INVALID",
      "this wallet has neither artifacts nor a service: set one with `sotto init --update --artifacts PLACE`",
    );
}

function placeOf({ folder }: Home, { artifacts, service }: Config) {
  const place: ArtifactPlace | undefined =
    artifacts === undefined ? undefined : /^https?:/.test(artifacts) ? { baseUrl: artifacts } : { folder: artifacts };
  return { folder, service, artifacts: place };
}
