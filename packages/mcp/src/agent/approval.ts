import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
import { AgentError } from "../errors.ts";

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/**
 * Asks the person at the MCP client, by elicitation. Only an accepted form with `approve: true` counts.
 * @param question names the facts; texts of other parties in it are quoted
 * @throws AgentError APPROVAL_UNAVAILABLE, APPROVAL_DECLINED; the reason of the call's signal
 */
export async function askPerson(server: Server, extra: Extra, question: string, timeoutMs: number): Promise<void> {
  if (server.getClientCapabilities()?.elicitation?.form === undefined)
    throw new AgentError(
      "APPROVAL_UNAVAILABLE",
      "a person has to approve this payment, but this MCP client cannot ask one (it lacks the capability " +
        "`elicitation`); nothing was paid; the wallet's owner can raise the threshold with `sotto limits --approve-above`",
    );
  const answer = await server
    .elicitInput(
      {
        message: question,
        requestedSchema: {
          type: "object",
          properties: { approve: { type: "boolean", title: "Approve this payment", default: false } },
          required: ["approve"],
        },
      },
      { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: extra.signal, relatedRequestId: extra.requestId },
    )
    .catch((cause: unknown) => {
      extra.signal.throwIfAborted();
      throw new AgentError(
        "APPROVAL_DECLINED",
        "nobody answered the question in time; nothing was paid",
        {},
        { cause },
      );
    });
  if (answer.action === "accept" && answer.content?.["approve"] === true) return;
  const how = answer.action === "cancel" ? "the question was cancelled" : "the payment was declined";
  throw new AgentError("APPROVAL_DECLINED", `${how}; nothing was paid`);
}
