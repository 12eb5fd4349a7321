// The scheme's hooks on each request. The published server continues if a hook throws, so these never throw, and refuse
// payments that cannot be checked.

import type { PaymentClaim, PaymentUse, PaymentUses } from "@sotto/protocol";
import { checkX402Payment, checkX402Time, parseX402Payload, parseX402Terms, x402Reason } from "@sotto/protocol/x402";
import { CHECK_FAILED, PAYMENT_IN_USE, PAYMENT_TOO_EARLY, PAYMENT_USED } from "../reasons.ts";
import type { Frozen, PaymentPayload, PaymentRequirements } from "../types.ts";
import type { ShownAttachments } from "./attachments.ts";

interface Context {
  readonly paymentPayload: Frozen<PaymentPayload>;
  readonly requirements: Frozen<PaymentRequirements>;
}

interface FailureContext extends Context {
  /** The published SettleError if the facilitator responded, any other error if it did not. */
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
  used: [PAYMENT_USED, "this payment was already used"],
  busy: [PAYMENT_IN_USE, "another request with this payment is in progress"],
  early: [PAYMENT_TOO_EARLY, "this payment was made before the server started"],
};

/** @throws SottoError X402_PAYLOAD_INVALID */
function useOf(payload: unknown): PaymentUse {
  const { bundle, signals, digest } = parseX402Payload(payload);
  return { digest, nullifier: String(signals.nullifier), resource: bundle.resourceUrl, timestamp: bundle.timestamp };
}

export interface HookParts {
  readonly uses: PaymentUses;
  /** Undefined if nothing is asked to be shown. */
  readonly shown: Pick<ShownAttachments<object>, "settling" | "settled" | "failed"> | undefined;
  /** Now, ms. */
  readonly clock: () => number;
  /** Receives the errors that are not thrown. */
  readonly onError: (error: unknown) => void;
}

export function serverHooks({ uses, shown, clock, onError }: HookParts): Hooks {
  /** Changes a use, and reports errors instead of throwing them. */
  const changing = (change: (use: PaymentUse) => Promise<void>) => async (context: Context) => {
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
    // These checks do not rely on the facilitator: price, recipient and resource must be those that this server asked
    // for.
    onBeforeVerify: refusing(async ({ paymentPayload, requirements }) => {
      const terms = parseX402Terms(requirements);
      const payment = parseX402Payload(paymentPayload.payload);
      const refusal = checkX402Payment(payment, terms) ?? checkX402Time(payment, terms, clock());
      return refusal && { abort: true, reason: x402Reason(refusal.reason), message: refusal.message };
    }),
    onBeforeSettle: refusing(async ({ paymentPayload, requirements }) => {
      const { payload } = paymentPayload;
      const use = useOf(payload);
      const claim = await uses.claim(use);
      if (claim === "claimed") {
        shown?.settling(use.digest, payload, requirements);
        return undefined;
      }
      const [reason, message] = REFUSALS[claim];
      return { abort: true, reason, message };
    }),
    onAfterSettle: changing(async (use) => {
      await uses.consume(use);
      shown?.settled(use.digest);
    }),
    onSettleFailure: async (context) => {
      const { errorReason } = context.error;
      // Only these reasons mean that the payment will never settle. A pending settlement or a missing response leaves
      // it open.
      const refused = errorReason?.startsWith("sotto_") === true || errorReason?.startsWith("invalid_") === true;
      await changing((use) => {
        shown?.failed(use.digest);
        return refused ? uses.reject(use) : uses.release(use);
      })(context);
    },
    onVerifiedPaymentCanceled: async (context) => {
      const failed = context.reason !== "handler_failed" || (context.responseStatus ?? 500) >= 500;
      await changing(async (use) => {
        shown?.failed(use.digest);
        if (failed) await uses.restore(use);
      })(context);
    },
  };
}
