export type { AgentOptions } from "./agent/agent.ts";
export type { AgentLimits, GivenLimits } from "./agent/limits.ts";
export { type AttendNow, SharedWallet, type WalletAccess } from "./agent/wallet-access.ts";
export { MCP_ERRORS } from "./error-definitions.ts";
export { AgentError, type AgentErrorCode } from "./errors.ts";
export { type HttpOptions, type RunningHttp, serveHttp } from "./http/serve.ts";
export { createServer, createServers } from "./server.ts";
