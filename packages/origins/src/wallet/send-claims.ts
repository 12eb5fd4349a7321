import type { Wallet } from "@sotto/wallet";
import { exchange } from "@sotto/wallet";
import { CLAIMS_PATH } from "../core/publication.ts";
import type { Download } from "./download.ts";
import { OriginError } from "./errors.ts";
import type { ClaimRecord } from "./records.ts";

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 16_384;

/** First and longest pause after an attempt to send claims failed, ms. */
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 6 * 3_600_000;

/**
 * Sends the claims of one spend, on a connection of their own. Claims of two spends are never in one request: that would say that one
 * wallet made both.
 * @returns a result for each claim
 * @throws OriginError CURATOR_UNREACHABLE; the signal's reason
 */
export async function sendClaims(
  { send, signal }: Download,
  base: string,
  claims: readonly ClaimRecord[],
): Promise<string[]> {
  const url = `${base}/${CLAIMS_PATH}`;
  const body = JSON.stringify({
    claims: claims.map(({ nullifier, maskRoot, proof }) => ({ nullifier, maskRoot, proof })),
  });
  const answer = await exchange(
    send,
    url,
    { method: "POST", headers: { "content-type": "application/json" }, body },
    { name: url, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, signal },
    (_, text, cause) => new OriginError("CURATOR_UNREACHABLE", text, {}, { cause }),
  );
  const results = answer.status === 200 ? resultsIn(answer.body) : undefined;
  if (results?.length === claims.length) return results;
  throw new OriginError(
    "CURATOR_UNREACHABLE",
    `${url} answers ${answer.status}, expected a result for each of ${claims.length} claims`,
  );
}

function resultsIn(body: Uint8Array): string[] | undefined {
  try {
    const { results } = Object(JSON.parse(new TextDecoder().decode(body))) as { results?: unknown };
    const isResult = (result: unknown): result is string => typeof result === "string" && /^\w{1,64}$/.test(result);
    return Array.isArray(results) && results.every(isResult) ? results : undefined;
  } catch {
    return undefined;
  }
}

/** A claim after a failed attempt. */
export function postponed(wallet: Pick<Wallet, "now">, claim: ClaimRecord): ClaimRecord {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** claim.attempts, MAX_PAUSE_MS);
  return { ...claim, attempts: claim.attempts + 1, next: Math.floor(wallet.now()) + pause };
}
