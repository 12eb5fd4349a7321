import { delay, unlessAborted } from "@sotto/chain";
import { parseCount, type SottoService, type Wallet, type WalletNote } from "@sotto/wallet";
import { hexlify, randomBytes } from "ethers";
import { PurchaseError } from "./errors.ts";
import { fundsTimedOut } from "./prove.ts";

/** The notes to keep ready for parallel payments. */
export interface SplitOptions {
  /** Number of notes, 2 to 64. */
  notes: number;
  /** Minimum base units of each note. */
  amount: bigint;
}

/** How long to wait for the prepared notes. */
export interface PrepareOptions {
  /** Stops waiting. Notes that are being split become spendable anyway. */
  signal?: AbortSignal | undefined;
  /** Maximum milliseconds until the notes are spendable. Default: 600,000. */
  timeoutMs?: number | undefined;
}

const MAX_NOTES = 64;
const TIMEOUT_MS = 600_000;
const LOOK_MS = 400;

/**
 * Prepares `notes` spendable notes of at least `amount`, so that the same number of payments can run in parallel.
 *
 * The wallet pays itself: each such payment splits one note into two. Making n notes from one therefore costs n - 1
 * payments in log2 n rounds, and each round takes as long as a payment needs to be settled and appended. On chain,
 * these payments look like any others. The service sees this wallet's shielded address as their recipient and can link
 * them to each other. A deposit of several notes (`splitAmount`) costs one transaction and reveals nothing to the
 * service.
 *
 * A crash loses nothing: the wallet keeps the notes that were made, and the next call makes the missing ones.
 * @returns the number of payments made
 * @throws PurchaseError SPLIT_IMPOSSIBLE if the notes hold too little, FUNDS_TIMED_OUT
 */
export async function prepareNotes(
  wallet: Wallet,
  service: SottoService,
  { notes, amount }: SplitOptions,
  { signal, timeoutMs = TIMEOUT_MS }: PrepareOptions = {},
): Promise<number> {
  assertSplit({ notes, amount });
  const options = { signal };
  const end = Date.now() + timeoutMs;
  let payments = 0;
  /** The newest block when the wait for notes began. */
  let since: number | undefined;
  for (;;) {
    await wallet.scan(options);
    since ??= wallet.height;
    const usable = wallet.notes().filter((note) => note.amount >= amount && isAlive(note));
    if (usable.filter(({ state }) => state === "spendable").length >= notes) return payments;
    const parts = chooseSplits(wallet, usable, notes, amount);
    if (parts.length === 0 && usable.every(({ state }) => state === "spendable"))
      throw new PurchaseError(
        "SPLIT_IMPOSSIBLE",
        `the wallet's notes cannot be split into ${notes} notes of ${amount} base units`,
        { found: usable.length },
      );
    if (Date.now() > end) throw fundsTimedOut(wallet, timeoutMs, since);
    // In parallel, because the service uses one transaction to settle payments that arrive together.
    const paid = await Promise.allSettled(parts.map((part) => payOneself(wallet, service, part, options)));
    for (const result of paid) if (result.status === "rejected") throw result.reason;
    payments += parts.length;
    if (parts.length === 0) await delay(LOOK_MS, signal);
  }
}

/** @throws WalletError INVALID_OPTION; PurchaseError PURCHASE_INVALID */
export function assertSplit({ notes, amount }: SplitOptions): void {
  parseCount(notes, "notes", 2, MAX_NOTES);
  if (typeof amount !== "bigint" || amount < 1n)
    throw new PurchaseError(
      "PURCHASE_INVALID",
      "amount must be a positive bigint, the minimum base units of each note",
    );
}

const isAlive = ({ state }: WalletNote): boolean => state !== "spent" && state !== "spending";

/** A note to split, and the amount of the new note; the rest is change. */
interface Split {
  note: number;
  part: bigint;
}

/**
 * Chooses as many notes to split as are missing: unseen notes before shown ones, then the largest first. Each is halved
 * into parts that contain a multiple of `amount`.
 */
function chooseSplits(wallet: Wallet, usable: readonly WalletNote[], notes: number, amount: bigint): Split[] {
  const isShown = (note: WalletNote) => wallet.isShown(note);
  const missing = Math.max(0, notes - usable.length);
  return usable
    .filter((note) => note.state === "spendable" && note.amount >= 2n * amount)
    .sort((a, b) => Number(isShown(a)) - Number(isShown(b)) || (a.amount < b.amount ? 1 : -1))
    .slice(0, missing)
    .map(({ leafIndex, amount: held }) => ({ note: leafIndex, part: (held / amount / 2n) * amount }));
}

async function payOneself(
  wallet: Wallet,
  service: SottoService,
  { note, part }: Split,
  options: { signal: AbortSignal | undefined },
) {
  // A random address, so that the payment does not name an account of the payer.
  const recipient = { wallet: hexlify(randomBytes(20)), shieldedAddress: wallet.shieldedAddress };
  const resourceUrl = `urn:sotto:split:${hexlify(randomBytes(16)).slice(2)}`;
  const request = { recipient, amount: part, resourceUrl, service: service.url, note };
  const { bundle } = await wallet.pay(request, options);
  const { paymentToken } = await service.verify(bundle, options);
  await service.settle(bundle, paymentToken, options);
}

/** Keeps notes ready for parallel payments. At most one split runs at a time, and none runs if it would not help. */
export class NoteSplitter {
  readonly #wallet: Wallet;
  readonly #options: SplitOptions;
  #running: Promise<void> | undefined;

  constructor(wallet: Wallet, options: SplitOptions) {
    assertSplit(options);
    this.#wallet = wallet;
    this.#options = options;
  }

  /** Whether notes are missing and can be made now. */
  needed(): boolean {
    const { notes, amount } = this.#options;
    const usable = this.#wallet.notes().filter((note) => note.amount >= amount && isAlive(note));
    return this.#running !== undefined || chooseSplits(this.#wallet, usable, notes, amount).length > 0;
  }

  /** Makes the missing notes. Concurrent calls share one run, and aborting one call does not stop the run. */
  async run(service: SottoService, signal: AbortSignal | undefined): Promise<void> {
    this.#running ??= prepareNotes(this.#wallet, service, this.#options)
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!(error instanceof PurchaseError) || error.code !== "SPLIT_IMPOSSIBLE") throw error;
      })
      .finally(() => {
        this.#running = undefined;
      });
    await unlessAborted(this.#running, signal);
  }
}
