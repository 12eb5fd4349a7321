// The local chain: a Hardhat node in this process. As a child process of another script, it reports over the IPC
// channel and exits with its parent.
import { flushCompileCache } from "node:module";
import { CommandError, type CommandErrorCode } from "@sotto/command/command";
import { guarded } from "@sotto/command/own-machine";
import { assertFree, HOST } from "@sotto/command/ports";
import { root } from "@sotto/keys/circuits/paths";
import type { DeploymentManifest } from "@sotto/protocol";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import type { NetworkConnection } from "hardhat/types/network";
import config from "../../../../hardhat.config.ts";
import { deployOnce } from "./snapshot.ts";

/** Differences from the local chain of `pnpm chain`. */
export interface NodeOptions {
  /** Default: 31337. */
  readonly chainId?: number;
  /** Whether the node has Hardhat's public accounts, with ETH; default: true. */
  readonly isFunded?: boolean;
  /** Milliseconds between blocks; default: one block per transaction. */
  readonly blockTimeMs?: number;
  /** File that stores the chain's blocks; by default the chain is lost when its process ends. */
  readonly history?: string;
  /** Whether to deploy the test dollar and a pool for it before the node is used. Only for a child process. */
  readonly deploy?: boolean;
}

export type ServerMessage =
  | { readonly listening: { readonly port: number; readonly deployment?: DeploymentManifest } }
  /** Progress of building the blocks of the history again. */
  | { readonly replaying: { readonly blocks: number; readonly of: number } }
  | { readonly error: { readonly code: CommandErrorCode; readonly message: string } };

export interface ServedChain {
  readonly port: number;
  /** The node without its server. */
  readonly provider: NetworkConnection["provider"];
}

/**
 * Listens on a port.
 * @param port 0 for any free port
 * @param onReplay called while the blocks of the history are built again
 * @throws CommandError PORT_BUSY, PORT_DENIED, CHAIN_HISTORY_DAMAGED, CHAIN_NOT_REPEATED
 */
export async function serve(
  port: number,
  { chainId, blockTimeMs, history: path, isFunded = true }: NodeOptions = {},
  onReplay: (blocks: number, of: number) => void = () => {},
): Promise<ServedChain> {
  // Checked first, because Hardhat's server ends the process with a stack trace if the port is in use.
  if (port !== 0) await assertFree({ chain: port });
  // Without the plugins of the project's configuration, Hardhat loads in two thirds of the time.
  const hre = await createHardhatRuntimeEnvironment({ networks: { node: config.networks!["node"]! } }, {}, root);
  let provider: ServedChain["provider"] | undefined;
  hre.hooks.registerHandlers("network", {
    newConnection: async (context, next) => {
      const connection = await next(context);
      provider ??= connection.provider;
      return connection;
    },
  });
  const history = path === undefined ? undefined : new (await import("./history.ts")).ChainHistory(path);
  history?.observe(hre);
  const override = {
    ...(history === undefined ? {} : { initialDate: history.genesis }),
    ...(chainId === undefined ? {} : { chainId }),
    ...(isFunded ? {} : { accounts: [] }),
    ...(blockTimeMs === undefined ? {} : { mining: { auto: false, interval: blockTimeMs } }),
  };
  const server = await hre.network.createServer({ network: "node", override }, HOST, port);
  await history?.replay((blocks) => onReplay(blocks, history.length));
  // Hardhat's server answers every web page, and the keys of the accounts are public.
  const { port: actual } = await guarded(() => server.listen());
  return { port: actual, provider: provider! };
}

/** Deploys in this process, which has loaded Hardhat already. Other nodes do not load Ignition. */
function deploy({ port, provider }: ServedChain): Promise<DeploymentManifest> {
  return deployOnce(provider, process.env["SOTTO_TEST_DEPLOYMENT"], async () => {
    const { deployLocal } = await import("./deployment.ts");
    return deployLocal(`http://${HOST}:${port}`);
  });
}

if (import.meta.main) {
  const send = (message: ServerMessage) => process.send?.(message);
  process.once("disconnect", () => process.exit(0));
  // Ctrl-C reaches the whole process group; the parent decides when the chain ends.
  process.on("SIGINT", () => {});
  try {
    const onReplay = (blocks: number, of: number) => send({ replaying: { blocks, of } });
    const options = JSON.parse(process.argv[3] ?? "{}") as NodeOptions;
    const chain = await serve(Number(process.argv[2]), options, onReplay);
    const deployment = options.deploy === true ? { deployment: await deploy(chain) } : {};
    send({ listening: { port: chain.port, ...deployment } });
    // A signal ends this process. Without this call, Node would then discard the code that it compiled for the next one.
    flushCompileCache();
  } catch (error) {
    const code = error instanceof CommandError ? error.code : "NODE_FAILED";
    send({ error: { code, message: error instanceof Error ? error.message : String(error) } });
    process.disconnect();
  }
}
