/** A separate entry point, because browsers have none of Node's modules. */
export { LOCAL_NODE, LOCAL_SERVICE, type WalletDeployment } from "../open/defaults.ts";
export { lockFile } from "./lock-file.ts";
export {
  type ArtifactPlace,
  type OpenProverOptions,
  type OpenWalletOptions,
  openArtifacts,
  openProver,
  openWallet,
} from "./open-wallet.ts";
