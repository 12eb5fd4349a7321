// `@sotto/prover/scan`: the kernel with which wallets read notes. It does not load the rest of the prover.
export { XMultiplier } from "./scan/multiply-xs.ts";
