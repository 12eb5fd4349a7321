import { type ChainSource, type EthersChain, ethersChain, SottoService, Wallet } from "@sotto/client";
import { SqliteStore } from "@sotto/client/sqlite";
import { createProver, type Prover } from "@sotto/prover";
import { openArtifacts } from "./artifacts.ts";
import type { Context } from "./command.ts";
import { explain } from "./explain.ts";
import { CliError } from "./frame/errors.ts";
import { type Config, readConfig } from "./home/config.ts";
import { lock } from "./home/lock.ts";
import { readSeed } from "./home/seed.ts";

/** What has to be given free at the end, last one first. */
class Cleanup {
  readonly #actions: (() => unknown)[] = [];
  add(action: () => unknown): void {
    this.#actions.push(action);
  }
  async run(): Promise<void> {
    for (let action = this.#actions.pop(); action; action = this.#actions.pop()) await action();
  }
}

/** The chain of a config, for the time of `action`. */
export async function withChain<T>(
  context: Context,
  action: (chain: EthersChain, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(context.home);
  const chain = ethersChain(config.rpc);
  try {
    return await action(chain, config);
  } catch (error) {
    throw explain(error, config);
  } finally {
    chain.close();
  }
}

export interface Session {
  readonly context: Context;
  readonly config: Config;
  readonly chain: EthersChain;
  readonly wallet: Wallet;
}

/**
 * The wallet of this home, for the time of `action`: locked, opened, and closed again whatever happens.
 * @param spending whether it will prove something
 */
export async function withWallet<T>(
  context: Context,
  spending: boolean,
  action: (session: Session) => Promise<T>,
): Promise<T> {
  const { home, environment, output } = context;
  const config = readConfig(home);
  const seed = readSeed(home, environment);
  const cleanup = new Cleanup();
  try {
    cleanup.add(lock(home.lock));
    const chain = ethersChain(config.rpc);
    cleanup.add(() => chain.close());
    let prover: Prover | undefined;
    if (spending) {
      output.progress("loading the circuits' keys");
      prover = createProver(await openArtifacts(context, config));
      cleanup.add(() => prover?.close());
    }
    const store = new SqliteStore(home.store);
    cleanup.add(() => store.close());
    const { chainId, pool, token, deploymentBlock, set, finality } = config;
    const place = { chain: chain as ChainSource, chainId, pool, token, deploymentBlock, set };
    const wallet = await Wallet.open({ ...place, seed, store, finality, ...(prover === undefined ? {} : { prover }) });
    return await action({ context, config, chain, wallet });
  } catch (error) {
    throw explain(error, config);
  } finally {
    await cleanup.run();
  }
}

/** Reads what is new on the chain. */
export async function scan({ context, wallet }: Session): Promise<void> {
  const { output, signal } = context;
  await wallet.scan({
    signal,
    onProgress: ({ block, height }) => output.progress(`reading block ${block} of ${height}`),
  });
}

/** The service of the config. @throws CliError CONFIG_INVALID where there is none; ServiceError SERVICE_NOT_SECURE */
export function serviceOf({ service, chainId }: Pick<Config, "service" | "chainId">): SottoService {
  if (service === undefined)
    throw new CliError("CONFIG_INVALID", "this wallet has no service: `sotto init --update --service URL` names one");
  return new SottoService(service, { chainId });
}
