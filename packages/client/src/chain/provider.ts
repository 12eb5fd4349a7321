import { JsonRpcProvider, type Network } from "ethers";

/**
 * A JSON-RPC node by its URL. Where it does not answer, a question fails and that is all: ethers' own provider then
 * looks for the network once a second for ever, writes that to the console and keeps the process from ending. The
 * network is asked for once; whoever needs the chain id of this very moment sends eth_chainId.
 */
export class QuietProvider extends JsonRpcProvider {
  #found: Network | undefined;

  constructor(url: string) {
    super(url, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 });
  }

  /** Nothing to begin with: there is no connection to open. */
  override _start(): void {}

  override async _detectNetwork(): Promise<Network> {
    this.#found ??= await super._detectNetwork();
    return this.#found;
  }
}
