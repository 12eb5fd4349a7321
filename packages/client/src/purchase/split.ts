import { hexlify, randomBytes } from "ethers";
import type { SottoService } from "../service/service.ts";
import { unlessAborted, wait } from "../wait.ts";
import { expectCount } from "../wallet/connect.ts";
import type { WalletNote } from "../wallet/state.ts";
import type { Wallet } from "../wallet/wallet.ts";
import { PurchaseError } from "./errors.ts";
import { fundsTimedOut } from "./prove.ts";

/** Notes that are to be ready for payments in parallel. */
export interface SplitOptions {
  /** How many, 2 to 64. */
  notes: number;
  /** Base units each holds at least. */
  amount: bigint;
}

export interface PrepareOptions {
  signal?: AbortSignal;
  /** Milliseconds it may take until they are spendable; 600,000 if left out. */
  timeoutMs?: number;
}

const MOST_NOTES = 64;
const TIMEOUT_MS = 600_000;
const LOOK_MS = 400;

/**
 * Sees to it that this many notes of at least this amount can be spent, so that as many payments can be made at once.
 *
 * A payment to oneself makes two notes of one; no circuit makes more. So n notes from one cost n - 1 payments, which the
 * service settles, in log2 n rounds, each as long as a payment takes to be settled and appended. On chain they look like
 * any payment. The service sees this wallet's own shielded address in them, and so may link them to each other: a deposit
 * of several notes (`splitAmount`) costs one transaction and shows it nothing.
 *
 * Nothing is lost by a crash: what was paid is in the wallet, and the next call makes what is missing.
 * @returns how many payments it made
 * @throws PurchaseError SPLIT_IMPOSSIBLE where the notes do not hold enough, FUNDS_TIMED_OUT
 */
export async function prepareNotes(
  wallet: Wallet,
  service: SottoService,
  { notes, amount }: SplitOptions,
  { signal, timeoutMs = TIMEOUT_MS }: PrepareOptions = {},
): Promise<number> {
  checkSplit({ notes, amount });
  const options = signal === undefined ? {} : { signal };
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
      throw new PurchaseError("SPLIT_IMPOSSIBLE", `the wallet's notes do not make ${notes} of ${amount} base units`, {
        found: usable.length,
      });
    if (Date.now() > end) throw fundsTimedOut(wallet, timeoutMs, since);
    // Side by side: the service settles what comes together in one transaction.
    const paid = await Promise.allSettled(parts.map((part) => payOneself(wallet, service, part, options)));
    for (const result of paid) if (result.status === "rejected") throw result.reason;
    payments += parts.length;
    if (parts.length === 0) await wait(LOOK_MS, signal);
  }
}

/** @throws WalletError INVALID_OPTION; PurchaseError PURCHASE_INVALID */
export function checkSplit({ notes, amount }: SplitOptions): void {
  expectCount(notes, "notes", 2, MOST_NOTES);
  if (typeof amount !== "bigint" || amount < 1n)
    throw new PurchaseError("PURCHASE_INVALID", "amount must say how many base units each note holds at least");
}

const isAlive = ({ state }: WalletNote): boolean => state !== "spent" && state !== "spending";

/** A note to be paid from, and how much of it goes into the new one; the rest comes back as change. */
interface Split {
  note: number;
  part: bigint;
}

/** Notes that nobody was shown before the others, the largest of them first, each into halves that hold a whole number of `amount`s, as many as are missing. */
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
  options: { signal?: AbortSignal },
) {
  // No account of the owner is named: the address is nobody's.
  const recipient = { wallet: hexlify(randomBytes(20)), shieldedAddress: wallet.shieldedAddress };
  const resourceUrl = `urn:sotto:split:${hexlify(randomBytes(16)).slice(2)}`;
  const request = { recipient, amount: part, resourceUrl, service: service.url, note };
  const { bundle } = await wallet.pay(request, options);
  const { paymentToken } = await service.verify(bundle, options);
  await service.settle(bundle, paymentToken, options);
}

/** Keeps notes ready: one splitting at a time, and none where it would not help. */
export class NoteSplitter {
  readonly #wallet: Wallet;
  readonly #options: SplitOptions;
  #running: Promise<void> | undefined;

  constructor(wallet: Wallet, options: SplitOptions) {
    checkSplit(options);
    this.#wallet = wallet;
    this.#options = options;
  }

  /** Whether notes are missing that could be made now. */
  needed(): boolean {
    const { notes, amount } = this.#options;
    const usable = this.#wallet.notes().filter((note) => note.amount >= amount && isAlive(note));
    return this.#running !== undefined || chooseSplits(this.#wallet, usable, notes, amount).length > 0;
  }

  /** Makes what is missing, together with whoever else asks for it now: one who stops waiting stops nobody else. */
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
