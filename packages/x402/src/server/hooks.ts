// The scheme's part in the life of a request. The published server goes on where a hook throws: none of these does, and
// whatever cannot be looked at is refused.

import type { PaymentClaim, PaymentUse, PaymentUses } from "@sotto/protocol";
import { checkX402Payment, checkX402Time, parseX402Payload, parseX402Terms, x402Reason } from "@sotto/protocol/x402";
import { CHECK_FAILED, PAYMENT_IN_USE, PAYMENT_TOO_EARLY, PAYMENT_USED } from "../reasons.ts";
import type { Frozen, PaymentPayload, PaymentRequirements } from "../types.ts";

interface Context {
  readonly paymentPayload: Frozen<PaymentPayload>;
  readonly requirements: Frozen<PaymentRequirements>;
}

interface FailureContext extends Context {
  /** The published SettleError where the facilitator said so, anything else where it said nothing. */
  readonly error: Error & { readonly errorReason?: string };
}

interface CancelContext extends Context {
  readonly reason: string;
  readonly responseStatus?: number;
}

type Abort = { readonly abort: true; readonly reason: string; readonly message?: string };

export interface Hooks {
  onBeforeVerify(context: Context): Promise<Abort | undefined>;
  onBeforeSettle(context: Context): Promise<Abort | undefined>;
  onAfterSettle(context: Context): Promise<void>;
  onSettleFailure(context: FailureContext): Promise<void>;
  onVerifiedPaymentCanceled(context: CancelContext): Promise<void>;
}

const REFUSALS: Readonly<Record<Exclude<PaymentClaim, "claimed">, readonly [reason: string, message: string]>> = {
  used: [PAYMENT_USED, "this payment was used before"],
  busy: [PAYMENT_IN_USE, "a request with this payment is under way"],
  early: [PAYMENT_TOO_EARLY, "this payment was made before the server was started"],
};

/** What a use is remembered by. @throws SottoError X402_PAYLOAD_INVALID */
function useOf(payload: unknown): PaymentUse {
  const { bundle, signals, digest } = parseX402Payload(payload);
  return { digest, nullifier: String(signals.nullifier), resource: bundle.resourceUrl, timestamp: bundle.timestamp };
}

/** @param clock now, ms; @param onError told what went wrong where nobody else is */
export function serverHooks(uses: PaymentUses, clock: () => number, onError: (error: unknown) => void): Hooks {
  /** For payments that passed the first hook. */
  const settled = (change: (use: PaymentUse) => Promise<void>) => async (context: Context) => {
    try {
      await change(useOf(context.paymentPayload.payload));
    } catch (error) {
      onError(error);
    }
  };
  const refusing = (check: (context: Context) => Promise<Abort | undefined>) => async (context: Context) => {
    try {
      return await check(context);
    } catch (error) {
      onError(error);
      return { abort: true as const, reason: CHECK_FAILED, message: "the payment could not be checked" };
    }
  };
  return {
    // Nothing here trusts the facilitator: price, recipient and resource are the ones this server asks for.
    onBeforeVerify: refusing(async ({ paymentPayload, requirements }) => {
      const terms = parseX402Terms(requirements);
      const payment = parseX402Payload(paymentPayload.payload);
      const refusal = checkX402Payment(payment, terms) ?? checkX402Time(payment, terms, clock());
      return refusal && { abort: true, reason: x402Reason(refusal.reason), message: refusal.message };
    }),
    onBeforeSettle: refusing(async ({ paymentPayload }) => {
      const claim = await uses.claim(useOf(paymentPayload.payload));
      if (claim === "claimed") return undefined;
      const [reason, message] = REFUSALS[claim];
      return { abort: true, reason, message };
    }),
    onAfterSettle: settled((use) => uses.consume(use)),
    onSettleFailure: async (context) => {
      const { errorReason } = context.error;
      // Only a facilitator that says why it never will be settled ends it. On its way, or no answer: nobody knows.
      const refused = errorReason?.startsWith("sotto_") === true || errorReason?.startsWith("invalid_") === true;
      await settled((use) => (refused ? uses.reject(use) : uses.release(use)))(context);
    },
    onVerifiedPaymentCanceled: async (context) => {
      const failed = context.reason !== "handler_failed" || (context.responseStatus ?? 500) >= 500;
      if (failed) await settled((use) => uses.restore(use))(context);
    },
  };
}
