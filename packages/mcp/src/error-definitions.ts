import { CLI_ERRORS } from "@sotto/cli";
import type { ErrorTable } from "@sotto/protocol";

/** The errors of this package. Its tools also report those of the client and of the wallet's folder. */
export const MCP_ERRORS = {
  MCP_OPTION_INVALID: {
    means: "An option of the MCP server, of a paid tool or of the paying client is wrong.",
    exit: "usage",
  },
  ARGUMENT_INVALID: { means: "An argument of a tool is wrong. The message names it.", exit: "usage" },
  TARGET_NOT_ALLOWED: {
    means: "The URL has no http or https address of the public network. Agents may not reach private networks.",
    exit: "refused",
  },
  PRICE_ABOVE_MAX: {
    means: "The price is above the call's `max_amount`. Nothing was paid. Details: `price`, `limit`.",
    exit: "refused",
  },
  APPROVAL_UNAVAILABLE: {
    means: "A person has to approve this payment, but the MCP client cannot ask one. Nothing was paid.",
    exit: "refused",
  },
  APPROVAL_DECLINED: { means: "The person who was asked did not approve. Nothing was paid.", exit: "refused" },
  CALL_MISMATCH: { means: "The idempotency key was used for another call.", exit: "usage" },
  CALL_TIMED_OUT: { means: "The call took longer than its time limit. The same call resumes it.", exit: "pending" },
  HOST_UNREACHABLE: CLI_ERRORS.HOST_UNREACHABLE,
  SERVICE_MISSING: { means: "The wallet has no service, so it cannot pay.", exit: "usage" },
  TOOL_CHALLENGE_INVALID: {
    means: "An MCP tool asks for a payment in a form that cannot be paid, or for another server's tool.",
    exit: "refused",
  },
} satisfies ErrorTable;
