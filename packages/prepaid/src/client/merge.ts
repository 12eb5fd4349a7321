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
 * itself; programs that end early call it. Up to four swaps run at once and others follow them without pauses, so the merchant
 * can see that they are of one payer. A second call at the same time does not wait for the swaps of the first.
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
  /** @returns undefined if there is nothing to swap; false if a swap failed, which does not keep other origins from merging */
  const swapOne = async (at: string, lane: number): Promise<boolean | undefined> => {
    signal?.throwIfAborted();
    const swapped = await metered.swaps.swap(at, { signal, lane }).catch((error: unknown) => {
      signal?.throwIfAborted();
      return { kind: "failed", error } as const;
    });
    if (swapped.kind === "none") return undefined;
    if (swapped.kind === "done") swaps += 1;
    if ("error" in swapped) addProblem(problems, swapped.error);
    return swapped.kind === "done";
  };
  for (const each of origin === undefined ? book.origins() : [origin]) {
    if ((await swapOne(each, 0)) !== true) continue;
    let hasFailed = false;
    const swapAll = async (lane: number) => {
      // After a failure, no further swap is begun at this origin.
      for (let made: boolean | undefined = true; made && !hasFailed; ) {
        made = await swapOne(each, lane);
        hasFailed ||= made === false;
      }
    };
    const lanes = await Promise.allSettled(Array.from({ length: MAX_SWAPS }, (_, lane) => swapAll(lane)));
    for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
  }
  const open = book.metered.requests(origin).filter(({ state }) => state !== "refused").length;
  return { charges, swaps, open, problems };
}

/** Adds an error, unless an equal one is there: swaps that run at once fail for the same reason. */
function addProblem(problems: unknown[], error: unknown): void {
  const text = (each: unknown) => (each instanceof Error ? each.message : each);
  if (!problems.some((each) => text(each) === text(error))) problems.push(error);
}
