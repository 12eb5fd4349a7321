export { SignerClient } from "./client.ts";
export { SignerError, type SignerErrorCode } from "./errors.ts";
export type { SignerEndpoint } from "./post.ts";
export { RemoteSigner } from "./remote.ts";
export type { TransactionSigner, UnsignedTransaction } from "./types.ts";
