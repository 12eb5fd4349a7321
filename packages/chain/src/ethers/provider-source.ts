import { isError, JsonRpcApiProvider, JsonRpcProvider, type Provider, toQuantity } from "ethers";
import { delay as pause } from "../delay.ts";
import { ChainError } from "../errors.ts";
import { type Block, type Call, type Log, type PendingBlock, parseLogs, parsePending } from "../rpc/values.ts";
import type { ChainSource, LogQuery } from "../source.ts";

/** How nodes refuse a range with too many blocks or logs (-32005 and free text; there is no standard). */
const TOO_LARGE = /range|too many|limit|more than|exceed|response size|-32005/i;
const UNREACHABLE =
  /NODE_UNREACHABLE|ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|ETIMEDOUT|fetch failed|socket hang up|network/i;

/** How often a request is retried. */
export interface EthersChainOptions {
  /** Maximum attempts per request; default 4. */
  attempts?: number | undefined;
  /** Pause before the second attempt, ms, doubled for each further one; default 250. */
  delay?: number | undefined;
}

/**
 * Reads the chain through an ethers v6 provider, for example a browser wallet's. If you have the URLs of nodes, use
 * `connectChain` instead: it fails over, and its requests have timeouts and size limits.
 * @throws ChainError INVALID_OPTION
 */
export function ethersChain(provider: Provider, { attempts = 4, delay = 250 }: EthersChainOptions = {}): ChainSource {
  if (typeof Object(provider).getNetwork !== "function")
    throw new ChainError(
      "INVALID_OPTION",
      "provider must be an ethers provider; for the URL of a node, use connectChain",
    );
  async function ask<T>(what: string, question: () => Promise<T>, divisible = false): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await question();
      } catch (cause) {
        const text = errorText(cause);
        if (divisible && TOO_LARGE.test(text) && !UNREACHABLE.test(text))
          throw new ChainError("RANGE_TOO_LARGE", `the provider refuses ${what}`, {}, { cause });
        // A revert is final: a retry would return the same.
        if (isError(cause, "CALL_EXCEPTION") || attempt >= attempts) throw failure(what, text, cause);
        await pause(delay * 2 ** (attempt - 1));
      }
    }
  }
  return {
    async chainId() {
      if (provider instanceof JsonRpcProvider)
        return BigInt(await ask("eth_chainId", () => provider.send("eth_chainId", [])));
      return (await ask("the chain id", () => provider.getNetwork())).chainId;
    },
    head: () => ask("the newest block", () => readBlock(provider, "latest")) as Promise<Block>,
    pending: () => readPending(provider).catch(() => undefined),
    block: (number) => ask(`block ${number}`, () => readBlock(provider, number)),
    logs: (query) =>
      ask(
        `logs of blocks ${query.from} to ${query.to}`,
        () => readProviderLogs(provider, query),
        query.from < query.to,
      ),
    code: (address, block) => ask("code", () => provider.getCode(address, block ?? "latest")),
    call: ({ from, to, data, gas }: Call, block) =>
      ask("call", () =>
        provider.call({ from: from ?? null, to: to ?? null, data, gasLimit: gas ?? null, blockTag: block ?? "latest" }),
      ),
  };
}

async function readBlock(provider: Provider, tag: number | "latest"): Promise<Block | undefined> {
  const block = await provider.getBlock(tag);
  if (block?.hash) return { number: block.number, hash: block.hash, timestamp: block.timestamp };
  if (tag === "latest") throw new ChainError("NODE_ERROR", "the provider has no newest block");
  return undefined;
}

async function readPending(provider: Provider): Promise<PendingBlock | undefined> {
  // ethers refuses a block without a number.
  if (provider instanceof JsonRpcApiProvider)
    return parsePending(await provider.send("eth_getBlockByNumber", ["pending", false]));
  const block = await provider.getBlock("pending");
  return block === null ? undefined : { number: block.number, timestamp: block.timestamp };
}

async function readProviderLogs(provider: Provider, { address, from, to, topics }: LogQuery): Promise<Log[]> {
  // ethers drops the block times that many nodes return with logs.
  if (provider instanceof JsonRpcApiProvider) {
    const filter = { address, fromBlock: toQuantity(from), toBlock: toQuantity(to), topics: topics ?? [] };
    return parseLogs(await provider.send("eth_getLogs", [filter]));
  }
  const logs = await provider.getLogs({ address, fromBlock: from, toBlock: to, topics: [...(topics ?? [])] });
  return logs.map((log) => ({
    address: log.address.toLowerCase(),
    topics: [...log.topics],
    data: log.data,
    blockNumber: log.blockNumber,
    blockHash: log.blockHash,
    transactionHash: log.transactionHash,
    logIndex: log.index,
  }));
}

function failure(what: string, text: string, cause: unknown): ChainError {
  if (UNREACHABLE.test(text))
    return new ChainError("NODE_UNREACHABLE", `the provider does not answer (${what})`, {}, { cause });
  return new ChainError("NODE_ERROR", `the provider responded to ${what} with an error`, {}, { cause });
}

/** The texts of an error and of the errors that ethers wraps in it. */
function errorText(error: unknown): string {
  const parts: string[] = [];
  for (let current = error, depth = 0; current instanceof Object && depth < 5; depth += 1) {
    const { code, message, shortMessage, cause, error: inner, info } = current as Record<string, unknown>;
    parts.push(String(code ?? ""), String(shortMessage ?? ""), String(message ?? ""));
    current = cause ?? inner ?? (info as { error?: unknown } | undefined)?.error;
  }
  return parts.join(" ");
}
