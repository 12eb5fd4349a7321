// MPP's transport for MCP, between a paid tool and its caller.
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import {
  challengesFromMcp,
  challengeToMcp,
  credentialFromMcp,
  isCharge,
  type Json,
  MCP_CREDENTIAL_KEY,
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
import { RETRY_KEY } from "./x402.ts";

/** The challenge of a call that has to be paid. A tool is bound by its resource, and its arguments are part of it. */
export function challengeOf(challenges: Challenges, { payment, metadata }: PaymentInstructions): MppChallenge {
  const { amountBaseUnits, asset, decimals } = payment;
  const { resource } = metadata;
  return challenges.issue({
    method: "POST",
    resource,
    price: BigInt(amountBaseUnits),
    asset,
    decimals,
    body: undefined,
  });
}

/** The error that asks for a payment, or says why one was refused. */
export function paymentError(challenge: MppChallenge, name: MppProblem, detail: string, retryAfter?: number): McpError {
  const data = {
    httpStatus: 402,
    challenges: [challengeToMcp(challenge)],
    problem: { ...problem(name, detail, challenge.id), status: 402 },
    ...(retryAfter === undefined ? {} : { [RETRY_KEY]: retryAfter }),
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
  const { amountBaseUnits, asset, decimals } = instructions.payment;
  const { resource } = instructions.metadata;
  const price = BigInt(amountBaseUnits);
  try {
    const { challenge, payload } = credentialFromMcp(credential);
    const wanted = { method: "POST", resource, price, asset, decimals, body: undefined };
    const mismatch = challenges.check(challenge, wanted);
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

export { MCP_CREDENTIAL_KEY };

/** The challenges of the method sotto in an error of a call; undefined if it asks for no payment. */
export function chargesOf(error: unknown): readonly MppChallenge[] | undefined {
  if (!(error instanceof McpError)) return undefined;
  const { code, data } = error as { readonly code: number; readonly data?: unknown };
  if (code !== MCP_PAYMENT_REQUIRED && code !== MCP_VERIFICATION_FAILED) return undefined;
  const charges = challengesFromMcp(data).filter(isCharge);
  return charges.length === 0 ? undefined : charges;
}

/** The challenge for a call of this tool, with its resource. @returns undefined if none is */
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
