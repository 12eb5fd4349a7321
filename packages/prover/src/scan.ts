// `@sotto/prover/scan`: the kernels with which wallets read notes and hash the tree. It does not load the rest of the prover.
export { createScanKernel, createTreeKernel } from "./scan/kernels.ts";
