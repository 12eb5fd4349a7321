import { readBody } from "@sotto/protocol";
import { FetchRequest, type GetUrlResponse, JsonRpcProvider, type Network } from "ethers";

/** Largest answer read, bytes. The logs of a range that has more are asked for in two halves. */
const LARGEST_ANSWER = 32 * 1024 * 1024;

/**
 * A JSON-RPC node by its URL. Where it does not answer, a question fails and that is all: ethers' own provider then
 * looks for the network once a second for ever, writes that to the console and keeps the process from ending. The
 * network is asked for once; whoever needs the chain id of this very moment sends eth_chainId. Nor does ethers end an
 * answer that does not come to an end, and it follows a node wherever it leads.
 */
export class QuietProvider extends JsonRpcProvider {
  #found: Network | undefined;

  /** @param timeoutMs for one answer */
  constructor(url: string, timeoutMs: number) {
    const request = new FetchRequest(url);
    request.getUrlFunc = (question) => ask(question, timeoutMs);
    super(request, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 });
  }

  /** Nothing to begin with: there is no connection to open. */
  override _start(): void {}

  override async _detectNetwork(): Promise<Network> {
    this.#found ??= await super._detectNetwork();
    return this.#found;
  }
}

/** @throws Error that says whether the node is away, or answers too much */
async function ask(request: FetchRequest, timeoutMs: number): Promise<GetUrlResponse> {
  const { url, method } = request;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const body = request.body as Uint8Array<ArrayBuffer> | null;
    const headers = new Headers([...request] as [string, string][]);
    const response = await fetch(url, { method, headers, body, redirect: "error", signal });
    return {
      statusCode: response.status,
      statusMessage: response.statusText,
      headers: Object.fromEntries(response.headers),
      body: await readBody(response, LARGEST_ANSWER, signal),
    };
  } catch (cause) {
    if (signal.aborted) throw new Error(`ETIMEDOUT: no answer in ${timeoutMs} ms`, { cause });
    throw cause;
  }
}
