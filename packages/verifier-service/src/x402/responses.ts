import { X402_SETTLEMENT_PENDING, x402Network, x402Reason } from "@sotto/protocol/x402";
import { type ResponseContext, relayResponse } from "../payments/responses.ts";
import type { Operation } from "../store/index.ts";
import type { X402Settled, X402Verified } from "./schemas.ts";
import type { Refused } from "./verify.ts";

/** Responses never have x402's field `payer`, because the payer stays private. */
export function x402Verified(result: { readonly id: string } | Refused): X402Verified {
  if (!("refused" in result)) return { isValid: true };
  const { reason, message } = result.refused;
  return { isValid: false, invalidReason: x402Reason(reason), invalidMessage: message };
}

export function x402Settled(
  result: { readonly operation: Operation } | Refused,
  chainId: number,
  context: ResponseContext,
): X402Settled {
  const network = x402Network(BigInt(chainId));
  if ("refused" in result) {
    const { reason, message } = result.refused;
    return { success: false, errorReason: x402Reason(reason), errorMessage: message, transaction: "", network };
  }
  const { id, txSignature, ...answer } = relayResponse(result.operation, context);
  const transaction = txSignature === "0x" ? "" : txSignature;
  if (answer.status === "success") {
    const { blockNumber } = answer;
    return { success: true, transaction, network, extra: { id, blockNumber } };
  }
  if (answer.status === "pending") {
    const errorMessage = "the payment is not settled yet; send the same request again";
    const extra = { id, statusUrl: answer.statusUrl };
    return { success: false, errorReason: X402_SETTLEMENT_PENDING, errorMessage, transaction, network, extra };
  }
  const errorMessage = "the payment was not settled and can no longer settle";
  return { success: false, errorReason: x402Reason(answer.reason), errorMessage, transaction, network, extra: { id } };
}

interface ErrorResponse {
  readonly code: string;
  readonly message: string;
}

export const isErrorResponse = (answer: unknown): answer is ErrorResponse =>
  typeof answer === "object" && answer !== null && "code" in answer && "error" in answer;

/** The service's error body with the fields of x402, so that clients of both understand the failure. */
export const x402VerifyError = (answer: ErrorResponse) => ({
  isValid: false,
  invalidReason: x402Reason(answer.code),
  invalidMessage: answer.message,
  ...answer,
});

export const x402SettleError = (answer: ErrorResponse, chainId: number) => ({
  success: false,
  errorReason: x402Reason(answer.code),
  errorMessage: answer.message,
  transaction: "",
  network: x402Network(BigInt(chainId)),
  ...answer,
});
