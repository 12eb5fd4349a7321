import type { PayingWallet } from "@sotto/client";
import { type MessagePart, message, SottoError } from "@sotto/protocol";
import { type CallOptions, ServiceClientError, SottoService } from "@sotto/wallet";
import { MAX_MIRRORED } from "../core/merchant.ts";
import { ask, jsonOf, saidIn } from "./ask.ts";
import { PrepaidError } from "./errors.ts";
import type { MirroredRecord } from "./records.ts";

const TIMEOUT_MS = 30_000;

/** What a merchant signed, and how a mirror's copies are compared with it. */
export interface Comparison<Signed, Conflict> {
  /** As messages refer to it. */
  readonly name: string;
  /** The mirror's list of them: the last part of its path, and the field of the answer. */
  readonly list: "schedules" | "terms";
  readonly merchant: { readonly wallet: string; readonly origin: string };
  /** Maximum size of an entry of the list. */
  readonly maxBytes: number;
  /** @throws SottoError if an entry of the list is invalid */
  decode(entry: unknown): Signed;
  /** Whether the merchant's wallet signed it: a mirror cannot accuse a merchant. */
  isOwn(signed: Signed): Promise<boolean>;
  /** How a mirror's copies contradict what the merchant shows. */
  conflict(kept: readonly Signed[]): Conflict | undefined;
  /** What the merchant shows, and the mirror lacks. */
  missing(kept: readonly Signed[]): readonly Signed[];
  push(service: SottoService, signed: Signed, options: CallOptions): Promise<unknown>;
}

/** How a mirror is asked. */
interface MirrorAccess {
  /** A fetch for the mirrors, with a connection of its own. */
  readonly send: typeof fetch;
  readonly wallet: PayingWallet;
  readonly signal: AbortSignal | undefined;
}

/** The book of what was compared with which mirror. */
interface MirrorBook {
  isMirrored(mirror: string, id: string): boolean;
  putMirrored(records: readonly MirroredRecord[]): Promise<void>;
}

/**
 * Compares what a merchant shows with all mirrors. A mirror never replaces a statement, so each is compared once.
 * @param wanted keys or terms that the mirrors must have
 * @param comparisonOf called with what was not compared with a mirror yet, at least one
 * @returns the first contradiction
 * @throws as `compareWithMirror`
 */
export async function compareWithMirrors<Wanted extends Omit<MirroredRecord, "mirror">, Signed, Conflict>(
  book: MirrorBook,
  wanted: readonly Wanted[],
  comparisonOf: (news: readonly Wanted[]) => Comparison<Signed, Conflict>,
  { mirrors, ...access }: MirrorAccess & { readonly mirrors: readonly string[] },
): Promise<Conflict | undefined> {
  for (const mirror of mirrors) {
    const news = wanted.filter(({ id }) => !book.isMirrored(mirror, id));
    if (news.length === 0) continue;
    const conflict = await compareWithMirror(mirror, comparisonOf(news), access);
    if (conflict !== undefined) return conflict;
    await book.putMirrored(news.map(({ id, epoch }) => ({ mirror, id, epoch })));
  }
  return undefined;
}

/**
 * Compares what a merchant shows with the copies of a mirror that the user chose. The mirror gets what it lacks and keeps it
 * forever, so that the next payer's comparison covers it.
 * @param mirror its base URL
 * @returns a contradiction, if there is one
 * @throws PrepaidError PREPAID_MIRROR_FAILED, PREPAID_UNREACHABLE: without the comparison nothing is paid
 */
async function compareWithMirror<Signed, Conflict>(
  mirror: string,
  comparison: Comparison<Signed, Conflict>,
  { send, wallet, signal }: MirrorAccess,
): Promise<Conflict | undefined> {
  const read = async (): Promise<readonly Signed[]> => {
    const { list, merchant, decode } = comparison;
    const url = `${mirror}/prepaid/${list}?${new URLSearchParams({ ...merchant })}`;
    const maxBytes = (MAX_MIRRORED + 1) * comparison.maxBytes;
    const answer = await ask(send, url, {}, { name: `the mirror ${mirror}`, maxBytes, timeoutMs: TIMEOUT_MS, signal });
    if (answer.status !== 200) throw mirrorFailed(mirror, message`answers ${saidIn(answer)}`);
    const entries = (Object(jsonOf(answer)) as Record<string, unknown>)[list];
    if (!Array.isArray(entries) || entries.length > MAX_MIRRORED)
      throw mirrorFailed(mirror, message`does not answer with a list of at most ${MAX_MIRRORED} signed ${list}`);
    const own: Signed[] = [];
    for (const signed of decodeAll(mirror, entries, decode)) if (await comparison.isOwn(signed)) own.push(signed);
    return own;
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

/** Decodes all before the signature of any is checked. */
function decodeAll<Signed>(mirror: string, entries: readonly unknown[], decode: (entry: unknown) => Signed): Signed[] {
  try {
    return entries.map((entry) => decode(entry));
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw mirrorFailed(mirror, message`answers with an invalid entry: ${cause}`, cause);
  }
}

const mirrorFailed = (mirror: string, why: readonly MessagePart[], cause?: unknown) => {
  const text = message`the mirror ${mirror} ${{ parts: why }}; nothing was paid`;
  return new PrepaidError("PREPAID_MIRROR_FAILED", text, { mirror }, { cause });
};
