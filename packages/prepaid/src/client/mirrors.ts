import type { PayingWallet } from "@sotto/client";
import { type MessagePart, message } from "@sotto/protocol";
import { type Answer, type CallOptions, ServiceClientError, SottoService } from "@sotto/wallet";
import { ask, saidIn } from "./ask.ts";
import { PrepaidError } from "./errors.ts";

const TIMEOUT_MS = 30_000;

/** What a merchant signed, and how a mirror's copies are compared with it. */
export interface Comparison<Signed, Conflict> {
  /** As messages refer to it. */
  readonly name: string;
  /** Path of the mirror's list of a merchant, with its query. */
  readonly path: string;
  /** Maximum size of that list. */
  readonly maxBytes: number;
  /** The statements in an answer that the merchant's wallet signed: a mirror cannot accuse a merchant. */
  parse(answer: Answer, from: string): Promise<readonly Signed[]>;
  /** How a mirror's copies contradict what the merchant shows. */
  conflict(kept: readonly Signed[]): Conflict | undefined;
  /** What the merchant shows, and the mirror lacks. */
  missing(kept: readonly Signed[]): readonly Signed[];
  push(service: SottoService, signed: Signed, options: CallOptions): Promise<unknown>;
}

/** How a mirror is asked. */
export interface MirrorAccess {
  /** A fetch for the mirrors, with a connection of its own. */
  readonly send: typeof fetch;
  readonly wallet: PayingWallet;
  readonly signal: AbortSignal | undefined;
}

/**
 * Compares what a merchant shows with the copies of a mirror that the user chose. The mirror gets what it lacks and keeps it
 * forever, so that the next payer's comparison covers it.
 * @param mirror its base URL
 * @returns a contradiction, if there is one
 * @throws PrepaidError PREPAID_MIRROR_FAILED, PREPAID_UNREACHABLE: without the comparison nothing is paid
 */
export async function compareWithMirror<Signed, Conflict>(
  mirror: string,
  comparison: Comparison<Signed, Conflict>,
  { send, wallet, signal }: MirrorAccess,
): Promise<Conflict | undefined> {
  const from = `the mirror ${mirror}`;
  const read = async (): Promise<readonly Signed[]> => {
    const limits = { name: from, maxBytes: comparison.maxBytes, timeoutMs: TIMEOUT_MS, signal };
    const answer = await ask(send, `${mirror}/${comparison.path}`, {}, limits);
    if (answer.status !== 200) throw mirrorFailed(mirror, message`answers ${saidIn(answer)}`);
    return comparison.parse(answer, from);
  };
  const kept = await read();
  const conflict = comparison.conflict(kept);
  const missing = comparison.missing(kept);
  if (conflict !== undefined || missing.length === 0) return conflict;
  const service = new SottoService(mirror, { fetch: send, chainId: wallet.pool.chainId });
  let failed: unknown;
  for (const own of missing)
    await comparison.push(service, own, { signal }).catch((error: unknown) => {
      failed = error;
    });
  signal?.throwIfAborted();
  // Another payer may have pushed something else in the meantime.
  const after = await read();
  const late = comparison.conflict(after);
  if (late !== undefined || comparison.missing(after).length === 0) return late;
  const why = failed instanceof ServiceClientError ? failed : "it does not show what it accepted";
  throw mirrorFailed(mirror, message`does not keep the merchant's ${comparison.name}: ${why}`, failed);
}

const mirrorFailed = (mirror: string, why: readonly MessagePart[], cause?: unknown) => {
  const text = message`the mirror ${mirror} ${{ parts: why }}; nothing was paid`;
  return new PrepaidError("PREPAID_MIRROR_FAILED", text, { mirror }, { cause });
};
