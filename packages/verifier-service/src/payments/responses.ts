import type { FastifyReply, FastifyRequest } from "fastify";
import { tellApplied } from "../operations/prefer.ts";
import type { Operation } from "../store/index.ts";
import type { VerifyResult } from "./verify.ts";

/** The `privacy` field of every verification's response. */
const VERIFIED_PRIVACY = { amountEncrypted: true, senderHidden: true, proofSystem: "groth16" } as const;
const SETTLED_PRIVACY = {
  amountVisibleOnChain: false,
  senderAddressHidden: true,
  observerCannotLinkTransactions: true,
} as const;

/** The body of a verification's response. All fields are always present, except reason and message. */
export function verifyResponse(result: VerifyResult) {
  if (result.valid)
    return { valid: true, paymentToken: result.token, expiresIn: result.expiresIn, privacy: VERIFIED_PRIVACY };
  const { reason, message } = result;
  return { valid: false, paymentToken: "", expiresIn: 0, privacy: VERIFIED_PRIVACY, reason, message };
}

export interface ResponseContext {
  /** The relayer's first account. */
  readonly relayer: string;
  /** All accounts of the relayer. */
  readonly relayers: readonly string[];
  /** Prefix of status URLs; the id follows. */
  readonly statusUrl: string;
}

const NO_TRANSACTION = "0x";

/** The body for the state of an operation, without `privacy`. */
export function relayResponse(operation: Operation, { relayer, statusUrl }: ResponseContext) {
  const { id, state, txHash = NO_TRANSACTION, blockNumber = 0, gasPaidBy = relayer, reason } = operation;
  if (state === "settled")
    return { status: "success" as const, txSignature: txHash, blockNumber, gasFeePaidBy: gasPaidBy, id };
  const open = { blockNumber: 0, gasFeePaidBy: relayer, id };
  if (state === "queued" || state === "broadcast")
    return { status: "pending" as const, txSignature: txHash, ...open, statusUrl: `${statusUrl}/${id}` };
  const why = state === "expired" ? "EXPIRED" : (reason ?? "FAILED");
  return { status: "failed" as const, txSignature: NO_TRANSACTION, ...open, reason: why };
}

export function settleResponse(operation: Operation, context: ResponseContext) {
  return { ...relayResponse(operation, context), privacy: SETTLED_PRIVACY };
}

/** Answers 202 with Location while the operation is pending. */
export function sendOutcome<T extends { status: string; statusUrl?: string }>(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: T,
): T {
  reply.header("cache-control", "no-store");
  if (answer.statusUrl === undefined) return answer;
  reply.code(202).header("location", answer.statusUrl).header("retry-after", 2);
  tellApplied(request, reply);
  return answer;
}
