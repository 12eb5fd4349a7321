import type { AttachedPayment, NoteWish, PayingAttachment } from "@sotto/client";
import type { NoteChoice, WalletNote } from "@sotto/wallet";
import { ORIGINS_FIELD, parseAskedSets } from "../core/asked.ts";
import type { OriginClaim } from "../core/claim.ts";
import { encodeOriginHeader, ORIGIN_HEADER } from "../core/header.ts";
import type { Origins } from "../wallet/origins.ts";
import type { SetKey } from "../wallet/records.ts";
import { OriginClientError } from "./errors.ts";

/** What shows the origins of a wallet's notes: `Origins` of @sotto/origins/wallet. */
export type OriginProver = Pick<Origins, "sets" | "canProve" | "prove" | "proveAhead">;

/** Options of {@link showOrigins}. */
export interface ShowOriginsOptions {
  /** The follower of the wallet's sets. */
  readonly origins: OriginProver;
  /**
   * What happens if a server asks for sets that the owner follows, and no note that suffices can be shown in one of them. wait: waits until
   * one can, at most `waitMs`, and then refuses. without: pays without an origin. refuse: pays nothing. Default: without.
   */
  readonly missing?: "wait" | "without" | "refuse" | undefined;
  /**
   * Milliseconds that `missing: "wait"` waits: 0 to 600,000. A wait causes no sync, because that would tell the curator about the payment.
   * Default: 300,000, in which `Origins.start` takes the curator's next head.
   */
  readonly waitMs?: number | undefined;
  /** Payments to servers that ask for a followed set wait for this, such as a sync. It must not reject. Default: they do not wait. */
  readonly after?: Promise<unknown> | undefined;
}

/** A head within a minute, its sync within two (`MAX_PAUSE_MS` of `Origins.start`), and two to spare. */
const WAIT_MS = 300_000;
const MAX_WAIT_MS = 600_000;

/**
 * Shows where the money of a payment comes from, to servers that ask for it and for sets that the owner follows. A server never makes
 * the wallet follow another set, or read anything from a URL that it names. What is shown is journaled with the purchase first.
 *
 *     wrapFetch(fetch, wallet, { ...options, attachments: [showOrigins({ origins })] });
 * @throws OriginClientError INVALID_OPTION
 */
export function showOrigins({
  origins,
  missing = "without",
  waitMs = WAIT_MS,
  after,
}: ShowOriginsOptions): PayingAttachment {
  if (!["wait", "without", "refuse"].includes(missing))
    throw new OriginClientError("INVALID_OPTION", 'missing must be "wait", "without" or "refuse"');
  if (!Number.isSafeInteger(waitMs) || waitMs < 0 || waitMs > MAX_WAIT_MS)
    throw new OriginClientError("INVALID_OPTION", `waitMs is ${waitMs}, but must be 0 to ${MAX_WAIT_MS} ms`);
  return {
    name: ORIGINS_FIELD,
    header: ORIGIN_HEADER,
    field: "origin",
    waitMs: missing === "wait" ? waitMs : 0,
    async choose(asked, wish) {
      const sets = askedOf(origins, asked);
      if (sets.length > 0) await after;
      return choose(origins, sets, missing, { ...wish, waitMs });
    },
    show: (asked, payment) => show(origins, askedOf(origins, asked), missing, payment),
    async prepare(asked, note) {
      for (const set of setsIn(origins, askedOf(origins, asked), note)) await origins.proveAhead(note.leafIndex, set);
    },
  };
}

/** The sets that a 402 asks for and the owner follows. A malformed field asks for none. */
function askedOf(origins: OriginProver, asked: unknown): readonly SetKey[] {
  let sets: ReturnType<typeof parseAskedSets>;
  try {
    sets = parseAskedSets(asked);
  } catch {
    return [];
  }
  return origins.sets().filter(({ curator, name }) => sets.some((set) => set.key === curator && set.name === name));
}

function choose(
  origins: OriginProver,
  asked: readonly SetKey[],
  missing: ShowOriginsOptions["missing"],
  { waitedMs, waitMs }: NoteWish & { readonly waitMs: number },
): NoteChoice | undefined {
  if (asked.length === 0) return undefined;
  const shown = (note: WalletNote) => setsIn(origins, asked, note).length;
  const prefer: NoteChoice["prefer"] = (note) => shown(note) === asked.length;
  if (missing === "without") return { prefer };
  // After the first time, no such note could be spent.
  if (waitedMs > (missing === "wait" ? waitMs : 0))
    throw new OriginClientError(
      "ORIGIN_NOT_READY",
      `no note that suffices can be shown in ${asked.map(({ name, curator }) => `the set ${name} of ${curator}`).join(" or ")}; nothing was paid`,
    );
  return { prefer, only: (note) => shown(note) > 0 };
}

/** The asked sets in which a note can be shown now. */
const setsIn = (origins: OriginProver, asked: readonly SetKey[], note: WalletNote): readonly SetKey[] =>
  asked.filter((set) => origins.canProve(note, set));

async function show(
  origins: OriginProver,
  asked: readonly SetKey[],
  missing: ShowOriginsOptions["missing"],
  { note, nullifier, signal }: AttachedPayment,
): Promise<string | undefined> {
  const claims: OriginClaim[] = [];
  for (const set of setsIn(origins, asked, note)) {
    const claim = await origins.prove(note.leafIndex, set, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (missing !== "without") throw error;
      return undefined;
    });
    if (claim?.nullifier === nullifier) claims.push(claim);
  }
  return claims.length === 0 ? undefined : encodeOriginHeader(claims);
}
