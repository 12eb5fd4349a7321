import type { WrapOptions } from "@sotto/client";
import type { Wallet } from "@sotto/wallet";
import { openPrepaid } from "./open.ts";
import type { ChargeEvent } from "./options.ts";

/** How many swaps run at once at an origin that has answered one. A merchant can withhold the tokens of all of them. */
const MAX_SWAPS = 4;

/** Which tokens are merged. */
export interface MergeWish {
  /** Only at this origin. Default: everywhere. */
  readonly origin?: string | undefined;
  /** Aborts between two steps: each is stored, and the same call resumes. */
  readonly signal?: AbortSignal | undefined;
}

/** What was claimed and swapped. */
export interface Merged {
  /** The charges that became known. Their change is in the wallet. */
  readonly charges: readonly ChargeEvent[];
  /** Number of swaps. */
  readonly swaps: number;
  /** Number of requests whose change has not arrived: they still run, or the server does not know their tokens. */
  readonly open: number;
  /** Why change or tokens did not arrive. */
  readonly problems: readonly unknown[];
}

/**
 * Claims the change of all requests of metered routes, and swaps small tokens for larger ones. In the background this happens by
 * itself; programs that end early call it. All swaps follow each other without pauses, so the merchant can see that they are
 * of one payer.
 * @param options those of `wrapFetch`, with `prepaid` among the methods
 * @throws FetchError FETCH_OPTION_INVALID; the errors of the store while it claims; the signal's reason
 */
export async function mergePrepaid(
  send: typeof fetch,
  wallet: Wallet,
  options: WrapOptions,
  { origin, signal }: MergeWish = {},
): Promise<Merged> {
  const { book, metered } = await openPrepaid(send, wallet, options);
  const charges: ChargeEvent[] = [];
  const problems: unknown[] = [];
  let swaps = 0;
  for (const { id, state } of book.metered.requests(origin)) {
    if (state === "refused" || book.metered.sending.has(id)) continue;
    signal?.throwIfAborted();
    const claimed = await metered.claims.claim(id);
    if (claimed.kind === "done") charges.push(claimed.charge);
    else if (claimed.error !== undefined) problems.push(claimed.error);
  }
  /** @returns whether a swap was made; a failure at one origin does not keep the others from merging */
  const swapOne = async (at: string, lane: number): Promise<boolean> => {
    signal?.throwIfAborted();
    const swapped = await metered.swaps.swap(at, { signal, lane }).catch((error: unknown) => {
      signal?.throwIfAborted();
      return { kind: "failed", error } as const;
    });
    if (swapped.kind === "done") swaps += 1;
    if ("error" in swapped) problems.push(swapped.error);
    return swapped.kind === "done";
  };
  for (const each of origin === undefined ? book.origins() : [origin]) {
    const earlier = problems.length;
    const swapAll = async (lane: number) => {
      // A merchant that fails at one swap gets the tokens of no others.
      while (problems.length === earlier && (await swapOne(each, lane)));
    };
    if (await swapOne(each, 0)) await Promise.all(Array.from({ length: MAX_SWAPS }, (_, lane) => swapAll(lane)));
  }
  const open = book.metered.requests(origin).filter(({ state }) => state !== "refused").length;
  return { charges, swaps, open, problems };
}
