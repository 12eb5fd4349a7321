// Traces follow a payment from a request to its transaction. The service knows no format of traces: an extension records them.
import { codeOf } from "../errors.ts";

/** What a trace shows of a step. Numbers and words of the program, never what a client sent. */
export type TraceAttributes = Readonly<Record<string, string | number>>;

/** A step of a trace. Its functions need no `this`. */
export interface TraceStep {
  /**
   * Takes the step from the limit of accepted payments, which requests that are refused cannot exhaust.
   * @returns its traceparent (W3C Trace Context), for the steps that follow; undefined if it is not recorded
   */
  readonly keep: () => string | undefined;
  /**
   * Ends the step. Never throws.
   * @param code the code of its error, if it failed
   */
  readonly end: (attributes: TraceAttributes, code?: string) => void;
}

/** How a step begins. */
export interface TraceStart {
  /** Traceparent of the step before it, checked; undefined: it begins a trace. */
  readonly parent?: string | undefined;
  /** When it began, ms; default: now. */
  readonly at?: number | undefined;
  /** Whether a request of a client began it. Others follow from a step that was kept, and count for no limit. */
  readonly isRequest?: boolean | undefined;
}

/** Records traces. */
export interface Tracing {
  /** Begins a step. Never throws. @param name what is done, the same for all requests */
  begin(name: string, start?: TraceStart): TraceStep;
}

/** A step that is not recorded. */
export const NO_STEP: TraceStep = { keep: () => undefined, end: () => undefined };

/** Records nothing. */
export const NO_TRACING: Tracing = { begin: () => NO_STEP };

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The value of the header `traceparent` if it has version 00 of W3C Trace Context; undefined for any other text. */
export const parseTraceparent = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === "string" && header.length === 55 && TRACEPARENT.test(header) ? header : undefined;

/** Runs an action as a step, which ends with it. @param shown what the step shows of the result */
export async function traced<T>(
  step: TraceStep,
  action: () => Promise<T>,
  shown: (result: T) => TraceAttributes,
): Promise<T> {
  try {
    const result = await action();
    step.end(shown(result));
    return result;
  } catch (error) {
    step.end({}, codeOf(error, "INTERNAL"));
    throw error;
  }
}
