// A relayer in a process of its own: `node child.ts JSON`. It ends at the given fault, or with its parent.
import { connectChain } from "@sotto/chain";
import { forgingProver } from "@sotto/test-pool/append";
import { createRelayer, LOCAL_RELAYER_CONFIG, openStore, type RelayerOptions } from "@sotto/verifier-service";
import { Wallet } from "ethers";
import { type Fault, withFault } from "./fault.ts";

export interface ChildOptions {
  readonly storeUrl: string;
  readonly url: string;
  readonly pool: { readonly pool: string; readonly token: string; readonly deploymentBlock: number };
  readonly keys: readonly string[];
  readonly config: Partial<RelayerOptions["config"]>;
  readonly fault?: Fault | undefined;
}

const options = JSON.parse(process.argv[2] ?? "") as ChildOptions;
const parts = {
  store: await openStore({ url: options.storeUrl }),
  chain: connectChain({ urls: [options.url], chainId: 31337n }),
};
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const relayer = createRelayer({
  ...(options.fault ? withFault(parts, options.fault) : parts),
  accounts: options.keys.map((key) => ({ signer: new Wallet(key) })),
  pool: { chainId: 31337n, ...options.pool },
  config: { ...LOCAL_RELAYER_CONFIG, pollInterval: 50, append: false, leaseTtl: 600_000, ...options.config },
  prover: forgingProver,
  metrics: { count() {}, gauge() {}, accounts() {}, leads() {}, settledAfter() {} },
  log: quiet,
});
process.once("disconnect", () => process.exit(0));
relayer.start();
while (!(await relayer.status()).leader) await new Promise((resolve) => setTimeout(resolve, 20));
process.send?.("leads");
