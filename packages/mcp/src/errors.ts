import { createErrorClass } from "@sotto/protocol";
import type { MCP_ERRORS } from "./error-definitions.ts";

/** The codes of an {@link AgentError}. */
export type AgentErrorCode = keyof typeof MCP_ERRORS;

/** An error of the MCP server, of paid tools, or of the paying client. */
export const AgentError = /* @__PURE__ */ createErrorClass<typeof MCP_ERRORS>("AgentError");
export type AgentError = InstanceType<typeof AgentError>;
