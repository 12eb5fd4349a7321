import { CLI_ERRORS } from "@sotto/cli-kit";
import type { ErrorTable } from "@sotto/protocol";

/** The errors of this package. Its tools also report those of the client and of the wallet's folder. */
export const MCP_ERRORS = {
  MCP_OPTION_INVALID: {
    means: "An option of the MCP server, of a paid tool or of the paying client is wrong.",
    cause: "A typo in the client's configuration, or an option of another version.",
    exit: "usage",
  },
  ARGUMENT_INVALID: {
    means: "An argument of a tool is wrong. The message names it.",
    cause: "The model invented an argument, or used another unit or format than the tool's description says.",
    exit: "usage",
  },
  TARGET_NOT_ALLOWED: {
    means: "The URL is not an http or https address on the public network. Agents may not reach private networks.",
    cause: "The agent tries a local address, another protocol, or a name that resolves to a private address.",
    exit: "refused",
  },
  PRICE_ABOVE_MAX: {
    means: "The price is above the call's `max_amount`. Nothing was paid. Details: `price`, `limit`.",
    cause: "The resource costs more than the model expected.",
    exit: "refused",
  },
  APPROVAL_UNAVAILABLE: {
    means: "A person has to approve this payment, but the MCP client cannot ask one. Nothing was paid.",
    cause: "The MCP client does not support elicitation, or runs without a person.",
    exit: "refused",
  },
  APPROVAL_DECLINED: {
    means: "The person who was asked did not approve. Nothing was paid.",
    cause: "The person refused, closed the question, or did not answer in time.",
    exit: "refused",
  },
  CALL_MISMATCH: {
    means: "The idempotency key was used for another call.",
    cause: "The model reuses a key for a new request.",
    exit: "usage",
  },
  CALL_TIMED_OUT: {
    means: "The call took longer than its time limit. The same call resumes it.",
    cause: "The chain or the other server is slow, or a person has not answered yet.",
    exit: "pending",
  },
  HOST_UNREACHABLE: CLI_ERRORS.HOST_UNREACHABLE,
  SERVICE_MISSING: {
    means: "The wallet has no service, so it cannot pay.",
    cause: "The wallet was made with `sotto init` without `--service`.",
    exit: "usage",
  },
  TOOL_CHALLENGE_INVALID: {
    means: "An MCP tool asks for a payment in a form that cannot be paid, or for another server's tool.",
    cause: "The server uses another payment scheme or version, or repeats the terms of another server.",
    exit: "refused",
  },
} satisfies ErrorTable;
