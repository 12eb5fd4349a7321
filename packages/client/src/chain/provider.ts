import { postJsonRpc } from "@sotto/chain";
import { type JsonRpcPayload, JsonRpcProvider, type JsonRpcResult, type Network } from "ethers";

/** Larger responses are not read. The logs of a range that has more are asked for in two halves. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/**
 * A JSON-RPC node by its URL. If it does not answer, a question fails and that is all: ethers' own provider then looks
 * for the network once a second forever, writes that to the console and keeps the process from ending. The network is
 * asked for once; to learn the chain id of this very moment, send eth_chainId. Deadline, size limit and redirects are
 * those of @sotto/chain.
 */
export class QuietProvider extends JsonRpcProvider {
  readonly #url: string;
  readonly #timeoutMs: number;
  #found: Network | undefined;

  /** @param timeoutMs for one answer */
  constructor(url: string, timeoutMs: number) {
    super(url, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 });
    this.#url = url;
    this.#timeoutMs = timeoutMs;
  }

  /** Nothing to begin with: there is no connection to open. */
  override _start(): void {}

  override async _detectNetwork(): Promise<Network> {
    this.#found ??= await super._detectNetwork();
    return this.#found;
  }

  /** @throws ChainError NODE_UNREACHABLE, NODE_ERROR */
  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    const [first] = [payload].flat();
    const limits = { timeoutMs: this.#timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES };
    const answer = await postJsonRpc(this.#url, first?.method ?? "nothing", payload, limits);
    return [answer].flat() as JsonRpcResult[];
  }
}
