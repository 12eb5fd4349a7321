import { isError, JsonRpcApiProvider, JsonRpcProvider, type Provider, toQuantity } from "ethers";
import { WalletError } from "../errors.ts";
import { wait } from "../wait.ts";
import { readLogs } from "./json-log.ts";
import { QuietProvider } from "./provider.ts";
import type { Block, ChainSource, Question, RawLog } from "./source.ts";

/** How nodes say that a range holds too many blocks or logs (-32005 and free text; there is no standard). */
const TOO_LARGE = /range|too many|limit|more than|exceed|response size|-32005/i;
const UNREACHABLE =
  /NODE_UNREACHABLE|ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|ETIMEDOUT|fetch failed|socket hang up|network/i;

/**
 * A chain behind any provider of ethers v6.
 * @param provider a provider, or the URL of a JSON-RPC node
 * @param attempts how often a question is asked before the error is passed on; they wait 250 ms, 500 ms, 1 s ..
 * @param timeoutMs for one answer of a node that is given by its URL
 */
export function ethersChain(
  provider: Provider | string,
  { attempts = 4, delay = 250, timeoutMs = 60_000 } = {},
): EthersChain {
  return new EthersChain(provider, attempts, delay, timeoutMs);
}

export class EthersChain implements ChainSource {
  readonly provider: Provider;
  readonly #attempts: number;
  readonly #delay: number;
  readonly #url: string;
  readonly #own: boolean;

  constructor(provider: Provider | string, attempts: number, delay: number, timeoutMs: number) {
    this.#own = typeof provider === "string";
    if (typeof provider === "string" && !isNodeUrl(provider))
      throw new WalletError(
        "INVALID_OPTION",
        "the node's address is expected like http://127.0.0.1:8545, without user and password",
      );
    this.provider = typeof provider === "string" ? new QuietProvider(provider, timeoutMs) : provider;
    // A provider's key may be part of its URL's path: only the host is shown in errors.
    this.#url = typeof provider === "string" ? new URL(provider).host : "the provider";
    this.#attempts = attempts;
    this.#delay = delay;
  }

  async chainId(): Promise<bigint> {
    const { provider } = this;
    if (provider instanceof JsonRpcProvider)
      return BigInt(await this.#ask("eth_chainId", () => provider.send("eth_chainId", [])));
    return (await this.#ask("chain id", () => provider.getNetwork())).chainId;
  }

  height(): Promise<number> {
    return this.#ask("block number", () => this.provider.getBlockNumber());
  }

  async block(number: number): Promise<Block | undefined> {
    const block = await this.#ask(`block ${number}`, () => this.provider.getBlock(number));
    if (!block?.hash) return undefined;
    return { number: block.number, hash: block.hash, timestamp: block.timestamp };
  }

  logs(address: string, from: number, to: number): Promise<RawLog[]> {
    return this.#ask(`logs of blocks ${from} to ${to}`, () => this.#logs(address, from, to), from < to);
  }

  async #logs(address: string, from: number, to: number): Promise<RawLog[]> {
    const { provider } = this;
    if (provider instanceof JsonRpcApiProvider) {
      const filter = { address, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
      return readLogs(await provider.send("eth_getLogs", [filter]));
    }
    const logs = await provider.getLogs({ address, fromBlock: from, toBlock: to });
    return logs.map((log) => ({
      topics: log.topics,
      data: log.data,
      blockNumber: log.blockNumber,
      blockHash: log.blockHash,
      transactionHash: log.transactionHash,
      logIndex: log.index,
    }));
  }

  code(address: string): Promise<string> {
    return this.#ask("code", () => this.provider.getCode(address));
  }

  call({ to, data }: Question, block?: number): Promise<string> {
    return this.#ask("call", () =>
      this.provider.call({
        ...(to === undefined ? {} : { to }),
        data,
        ...(block === undefined ? {} : { blockTag: block }),
      }),
    );
  }

  /** Ends the connection, where this object made it. */
  close(): void {
    if (this.#own) this.provider.destroy();
  }

  async #ask<T>(what: string, question: () => Promise<T>, divisible = false): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await question();
      } catch (error) {
        const text = errorText(error);
        if (divisible && TOO_LARGE.test(text) && !UNREACHABLE.test(text))
          throw new WalletError("RANGE_TOO_LARGE", `${this.#url} refuses ${what}`, {}, { cause: error });
        // A revert is an answer: asking again would give the same.
        const final = isError(error, "CALL_EXCEPTION") || attempt >= this.#attempts;
        if (final) throw this.#failure(what, text, error);
        await wait(this.#delay * 2 ** (attempt - 1));
      }
    }
  }

  #failure(what: string, text: string, cause: unknown): WalletError {
    if (UNREACHABLE.test(text))
      return new WalletError("NODE_UNREACHABLE", `${this.#url} does not answer (${what})`, {}, { cause });
    return new WalletError("NODE_ERROR", `${this.#url} answered ${what} with an error`, {}, { cause });
  }
}

function isNodeUrl(text: string): boolean {
  const { protocol, username, password } = URL.canParse(text) ? new URL(text) : new URL("none:");
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

/** The texts of an error and of what ethers wraps in it. */
function errorText(error: unknown): string {
  const parts: string[] = [];
  for (let current = error, depth = 0; current instanceof Object && depth < 5; depth += 1) {
    const { code, message, shortMessage, cause, error: inner, info } = current as Record<string, unknown>;
    parts.push(String(code ?? ""), String(shortMessage ?? ""), String(message ?? ""));
    current = cause ?? inner ?? (info as { error?: unknown } | undefined)?.error;
  }
  return parts.join(" ");
}
