import {
  JsonRpcApiProvider,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcResult,
  Network,
  Transaction,
} from "ethers";
import type { Chain } from "../chain.ts";
import { CallReverted, RpcErrorResponse } from "../errors.ts";

/**
 * An ethers provider for a Signer that sends transactions. Its requests go through a `Chain`, with that chain's
 * failover, timeouts and size limits. It sends no requests by itself, whereas ethers' own provider polls a node that is
 * down every second, logs each attempt to the console and keeps the process from exiting.
 */
export function ethersProvider(chain: Chain): JsonRpcApiProvider {
  return new ChainProvider(chain);
}

class ChainProvider extends JsonRpcApiProvider {
  readonly #chain: Chain;

  constructor(chain: Chain) {
    super(chain.expectedChainId, {
      staticNetwork: Network.from(chain.expectedChainId),
      cacheTimeout: -1,
      batchMaxCount: 1,
    });
    this.#chain = chain;
    this._start();
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<(JsonRpcResult | JsonRpcError)[]> {
    return Promise.all([payload].flat().map((one) => this.#ask(one)));
  }

  async #ask({ id, method, params }: JsonRpcPayload): Promise<JsonRpcResult | JsonRpcError> {
    try {
      if (method !== "eth_sendRawTransaction")
        return { id, result: await this.#chain.request(method, params as readonly unknown[]) };
      const raw = String(Object.values(params)[0]);
      const { accepted, refusal = "refused" } = await this.#chain.broadcast(raw);
      return accepted ? { id, result: Transaction.from(raw).hash } : { id, error: { code: -32000, message: refusal } };
    } catch (error) {
      // ethers decodes these itself.
      if (error instanceof CallReverted)
        return { id, error: { code: 3, message: "execution reverted", data: error.data } };
      if (error instanceof RpcErrorResponse)
        return { id, error: { code: error.rpcCode ?? -32000, message: error.text } };
      throw error;
    }
  }
}
