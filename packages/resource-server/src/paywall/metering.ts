// Counts what a request uses, if its price says so and the payment does not.
import type { MeteredQuote, RequestTerms } from "./method.ts";
import type { Decision, ResponseEnd, StartedMeter } from "./types.ts";

/**
 * Gives a paid request the meter of its quote, unless the payment has a meter of its own.
 * @throws the errors of the quote's function; then the payment is released
 */
export async function withMeter(decision: Decision, terms: RequestTerms): Promise<Decision> {
  const quote = terms.quote as Partial<MeteredQuote> | undefined;
  if (decision.kind !== "paid" || quote?.meter === undefined || decision.payment.meter !== undefined) return decision;
  let started: StartedMeter;
  try {
    started = quote.meter(decision.payment, terms);
  } catch (error) {
    await decision.finish("unstarted");
    await decision.ended?.("cut");
    throw error;
  }
  const ended = async (end: ResponseEnd): Promise<void> => {
    await decision.ended?.(end);
    await started.ended?.(end);
  };
  return { ...decision, payment: { ...decision.payment, meter: started.meter }, ended };
}

/** @param onError gets the error of a method, which must not fail the response */
export function withSafeEnd(decision: Decision, onError: (error: unknown) => void): Decision {
  if (decision.kind !== "paid" || decision.ended === undefined) return decision;
  const { ended } = decision;
  return {
    ...decision,
    ended: async (end) => {
      try {
        await ended(end);
      } catch (error) {
        onError(error);
      }
    },
  };
}
