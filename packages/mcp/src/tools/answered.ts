import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { type Agent, reported } from "../agent/agent.ts";

/** The annotations of tools that spend nothing. */
export const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Runs a tool that spends nothing; its result says what failed. */
export async function answered(agent: Agent, action: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await action();
  } catch (error) {
    const { code, message } = reported(error, agent);
    return { isError: true, content: [{ type: "text", text: `Failed: ${code}: ${message}.` }] };
  }
}
