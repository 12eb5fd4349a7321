export { LOCAL_NODE, LOCAL_SERVICE, type WalletDeployment } from "../open/defaults.ts";
export { type ConnectOptions, connectProver, type ProverWorker } from "./connect-prover.ts";
export type { Port, ProverSource } from "./messages.ts";
export { type OpenWalletOptions, openWallet } from "./open-wallet.ts";
export { serveProver } from "./serve-prover.ts";
