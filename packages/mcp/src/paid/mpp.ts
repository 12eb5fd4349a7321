// MPP's transport for MCP, between a paid tool and its caller.
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import {
  challengesFromMcp,
  challengeToMcp,
  credentialFromMcp,
  isCharge,
  type Json,
  MCP_PAYMENT_REQUIRED,
  MCP_RECEIPT_KEY,
  MCP_VERIFICATION_FAILED,
  type MppChallenge,
  MppError,
  type MppProblem,
  parseCharge,
  problem,
} from "@sotto/mpp";
import type { Challenges } from "@sotto/mpp/server";
import type { PaymentInstructions } from "@sotto/protocol";
import { isCallOf } from "./resource.ts";
import { type Asked, RETRY_KEY, SCHEDULE_KEY } from "./x402.ts";

/** What the challenge of a call must be for. The resource names the tool and its arguments. */
function wantedBy({ payment, metadata }: PaymentInstructions): Parameters<Challenges["issue"]>[0] {
  const { amountBaseUnits, asset, decimals } = payment;
  const { resource } = metadata;
  return { method: "POST", resource, price: BigInt(amountBaseUnits), asset, decimals, body: undefined };
}

/** The error that asks for a payment, or says why one was refused. */
export function paymentError(
  challenges: Challenges,
  { instructions, schedule }: Asked,
  name: MppProblem,
  detail: string,
  retryAfter?: number,
): McpError {
  const challenge = challenges.issue(wantedBy(instructions));
  const data = {
    httpStatus: 402,
    challenges: [challengeToMcp(challenge)],
    problem: { ...problem(name, detail, challenge.id), status: 402 },
    ...(retryAfter === undefined ? {} : { [RETRY_KEY]: retryAfter }),
    ...(schedule === undefined ? {} : { [SCHEDULE_KEY]: schedule }),
  };
  return new McpError(MCP_PAYMENT_REQUIRED, detail, data);
}

/** The proof in a call's credential, as X-Payment-Proof has it; or why it is refused. */
export function proofOf(
  challenges: Challenges,
  instructions: PaymentInstructions,
  credential: unknown,
):
  | { readonly proof: string; readonly challengeId: string }
  | { readonly problem: MppProblem; readonly detail: string } {
  try {
    const { challenge, payload } = credentialFromMcp(credential);
    const mismatch = challenges.check(challenge, wantedBy(instructions));
    return mismatch ?? { proof: JSON.stringify(payload), challengeId: challenge.id };
  } catch (error) {
    if (!(error instanceof MppError)) throw error;
    return { problem: "malformed-credential", detail: "The credential is malformed." };
  }
}

/** The `_meta` of a paid result. */
export const receiptMeta = (reference: string, challengeId: string, now: number): Json => ({
  [MCP_RECEIPT_KEY]: {
    method: "sotto",
    reference,
    status: "success",
    timestamp: new Date(now).toISOString(),
    challengeId,
  },
});

/** The challenges of the method sotto in an error of a call; undefined if it asks for no payment. */
export function chargesOf(error: unknown): readonly MppChallenge[] | undefined {
  if (!(error instanceof McpError)) return undefined;
  const { code, data } = error as { readonly code: number; readonly data?: unknown };
  if (code !== MCP_PAYMENT_REQUIRED && code !== MCP_VERIFICATION_FAILED) return undefined;
  const charges = challengesFromMcp(data).filter(isCharge);
  return charges.length === 0 ? undefined : charges;
}

/** The first challenge for a call of this tool, with its resource; undefined if there is none. */
export function chargeForCall(
  charges: readonly MppChallenge[],
  origin: string,
  name: string,
): { readonly challenge: MppChallenge; readonly resource: string } | undefined {
  for (const challenge of charges) {
    const resource = resourceOf(challenge);
    if (resource !== undefined && isCallOf(resource, origin, name)) return { challenge, resource };
  }
  return undefined;
}

function resourceOf({ request }: MppChallenge): string | undefined {
  try {
    return parseCharge(request).resource;
  } catch {
    return undefined;
  }
}
