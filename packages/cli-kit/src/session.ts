import type { PayingAttachment } from "@sotto/client";
import type { ArtifactProgress } from "@sotto/prover";
import { type Chain, SottoService, type Wallet } from "@sotto/wallet";
import type { Context } from "./command.ts";
import { explain } from "./explain.ts";
import { CliError } from "./frame/errors.ts";
import { type Attended, attendTo } from "./home/attend.ts";
import { type Config, readConfig } from "./home/config.ts";
import { assertArtifacts, chainOf, openHomeWallet } from "./home/open.ts";

/** Runs `action` with the chain of the configuration. */
export async function withChain<T>(context: Context, action: (chain: Chain, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(context.home);
  try {
    return await action(chainOf(config, context.signal), config);
  } catch (error) {
    throw explain(error, config, context.program.errors);
  }
}

/** An open wallet, and what a command runs with. */
export interface Session {
  readonly context: Context;
  readonly config: Config;
  readonly chain: Chain;
  readonly wallet: Wallet;
  /** What the program's sets show beside payments. */
  readonly attachments: readonly PayingAttachment[];
}

/**
 * Locks and opens the wallet for the duration of `action`.
 * @param spending whether `action` makes proofs, which need a source of the circuits' files
 */
export async function withWallet<T>(
  context: Context,
  spending: boolean,
  action: (session: Session) => Promise<T>,
): Promise<T> {
  const { home, environment, output, prover, now } = context;
  const config = readConfig(home);
  if (spending) assertArtifacts(config);
  const chain = chainOf(config, context.signal);
  let wallet: Wallet | undefined;
  let attended: Attended | undefined;
  const close = async () => {
    try {
      await attended?.end();
    } finally {
      await wallet?.close();
    }
  };
  let result: T;
  try {
    wallet = await openHomeWallet(home, config, {
      environment,
      chain,
      prover,
      clock: now,
      onDownload: (progress) => output.progress(describeDownload(progress)),
      onCacheError: ({ message }) => output.note(message),
    });
    attended = await attendTo(wallet, spending ? context.program.attends : []);
    result = await action({ context, config, chain, wallet, attachments: attended.attachments });
  } catch (error) {
    // What fails at the end must not hide the error of the command.
    await close().catch(() => undefined);
    throw explain(error, config, context.program.errors);
  }
  await close();
  return result;
}

function describeDownload({ circuit, kind, received, total }: ArtifactProgress): string {
  const percent = total === undefined ? "" : `, ${Math.floor((100 * received) / Math.max(total, 1))} %`;
  return `loading the circuits' keys: ${circuit}.${kind}${percent}`;
}

/** Reads the chain's new blocks. */
export async function scan({ context, wallet }: Session): Promise<void> {
  const { output, signal } = context;
  await wallet.scan({
    signal,
    onProgress: ({ block, height }) => output.progress(`reading block ${block} of ${height}`),
  });
}

/** The config's service. @throws CliError CONFIG_INVALID if there is none; ServiceClientError SERVICE_NOT_SECURE */
export function serviceOf({ service, chainId }: Pick<Config, "service" | "chainId">): SottoService {
  if (service === undefined)
    throw new CliError(
      "CONFIG_INVALID",
      "this wallet has no service: set one with `sotto init --update --service URL`",
    );
  return new SottoService(service, { chainId });
}
