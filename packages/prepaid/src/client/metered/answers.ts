import type { ForeignText } from "@sotto/protocol";
import type { Answer } from "@sotto/wallet";
import { reasonOf, saidIn } from "../ask.ts";

/**
 * What an answer without tokens means. running: the request has not ended. unknown: the server does not know the token. other:
 * it signed other tokens for this one. ended: its key has ended. refused: it refuses for good. later: it cannot answer now.
 */
export type NoTokens = "running" | "unknown" | "other" | "ended" | "refused" | "later";

/** An answer without tokens. */
export interface Unsigned {
  readonly kind: NoTokens;
  /** What the server said, for a message, and its code. */
  readonly said: string | ForeignText;
  readonly reason: string;
  /** When the server asks to be asked again, ms from now; undefined if it does not say. */
  readonly waitMs: number | undefined;
}

const KINDS: Readonly<Record<string, NoTokens>> = {
  METERED_RUNNING: "running",
  METERED_UNKNOWN: "unknown",
  METERED_BATCH_OTHER: "other",
  METERED_SPENT: "other",
  METERED_ENDED: "ended",
  METERED_CLAIM_INVALID: "refused",
  METERED_REQUEST_INVALID: "refused",
};

/** Reads an answer whose status is not 200. A proxy's answer, which has no code of the server, says nothing about the token. */
export function unsignedOf(answer: Answer): Unsigned {
  const reason = reasonOf(answer);
  const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
  const kind = Object.hasOwn(KINDS, reason) && answer.status < 500 ? KINDS[reason]! : "later";
  return { kind, reason, said: saidIn(answer), waitMs: Number.isFinite(seconds) ? seconds * 1000 : undefined };
}
