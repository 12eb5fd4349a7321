export { abortable } from "./abortable.ts";
export { assertNodes, type Chain, connectChain } from "./chain.ts";
export { type ClockReference, chainTime, clockLead, MAX_CLOCK_LEAD_SECONDS } from "./clock.ts";
export { type AbiCodec, type ContractRead, readContract } from "./contract.ts";
export { delay, unlessAborted } from "./delay.ts";
export { CHAIN_ERRORS } from "./error-definitions.ts";
export {
  CallReverted,
  ChainError,
  type ChainErrorCode,
  isNodeFault,
  NODE_FAULTS,
  type NodeFaultCode,
} from "./errors.ts";
export type { BlockTag, ChainNode } from "./node.ts";
export {
  type AppendCall,
  type AppendOptions,
  type AppendProver,
  type ProvedAppend,
  proveAppend,
} from "./pool/append.ts";
export { decodeSettleCall, type SettledCall } from "./pool/calldata.ts";
export {
  type AppendedEvent,
  type DepositedEvent,
  decodeEvent,
  type EventPosition,
  type PoolEvent,
  queuedLeaves,
  type SettledEvent,
  type WithdrawnEvent,
} from "./pool/events.ts";
export {
  type BlockRef,
  type CaughtUp,
  type FollowerOptions,
  type PageSink,
  PoolFollower,
  type PoolPage,
} from "./pool/follower.ts";
export { NewestCheckpoint } from "./pool/newest-checkpoint.ts";
export type { Append, QueueCounts, QueuedLeaf } from "./pool/page.ts";
export {
  isAnotherContract,
  type PoolFacts,
  type PoolViews,
  poolViews,
  type QueueStart,
  type QueueState,
  readDecimals,
  readPool,
  showsSettled,
} from "./pool/views.ts";
export type { Broadcast } from "./rpc/broadcast.ts";
export { MAX_BATCH } from "./rpc/endpoint.ts";
export type { ChainLog, ChainOptions, NodeStatus } from "./rpc/failover.ts";
export type { Block, Call, FeeHistory, Head, Log, PendingBlock, Receipt, Transaction } from "./rpc/values.ts";
export { signatureCall } from "./signature-call.ts";
export {
  assertChainId,
  type ChainSource,
  type LogQuery,
  newestBlock,
  readBlock,
  readNewest,
  useNode,
} from "./source.ts";
