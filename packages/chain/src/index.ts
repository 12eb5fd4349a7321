export { type Chain, connectChain } from "./chain.ts";
export { CallReverted, ChainError, type ChainErrorCode, isNodeFault } from "./errors.ts";
export type { AbiCodec, BlockTag, ChainNode, ContractQuestion } from "./node.ts";
export type { Broadcast } from "./rpc/broadcast.ts";
export { MAX_BATCH } from "./rpc/endpoint.ts";
export type { ChainLog, ChainOptions } from "./rpc/failover.ts";
export { postJsonRpc, type RequestLimits } from "./rpc/post.ts";
export type { Block, Call, FeeHistory, Head, Log, Receipt } from "./rpc/values.ts";
export { signatureCall } from "./signature-call.ts";
