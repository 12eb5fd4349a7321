import type { PrepaidBook } from "../book.ts";
import type { ChargeEvent, PrepaidSettings } from "../options.ts";
import { isClosed, runLater } from "../timer.ts";
import type { Claimed, Claims } from "./claims.ts";
import type { Swaps } from "./swaps.ts";

/** Milliseconds before a claim that could not end is tried again; doubled each time. */
const FIRST_PAUSE_MS = 500;
/** The longest pause, also if the server asks for a longer one: it would never be asked again. */
const MAX_PAUSE_MS = 60_000;
/** How often a server is asked for a token that it does not know: another of its servers may know it. */
const MAX_UNKNOWN = 8;
/** How many claims run at the same time. */
const MAX_CLAIMS = 8;

/** A claim that waits or runs. */
interface Task {
  readonly id: string;
  tries: number;
  unknown: number;
}

/** Claims change and swaps tokens in the background. No request waits for it. */
export class Background {
  readonly #book: PrepaidBook;
  readonly #parts: { readonly claims: Claims; readonly swaps: Swaps };
  readonly #settings: PrepaidSettings;
  readonly #ready: Task[] = [];
  #running = 0;
  readonly #swapping = new Set<string>();

  constructor(book: PrepaidBook, parts: { readonly claims: Claims; readonly swaps: Swaps }, settings: PrepaidSettings) {
    this.#book = book;
    this.#parts = parts;
    this.#settings = settings;
  }

  /**
   * Claims what an earlier process left open, each at a random time of its own: otherwise the merchant sees that these requests
   * have one payer. Once for each book.
   */
  resume(): void {
    const { metered } = this.#book;
    if (metered.isResumed) return;
    metered.isResumed = true;
    const { random, maxDelayMs } = this.#settings;
    for (const { id, state } of metered.requests())
      if (state !== "refused") runLater(Math.floor(random() * maxDelayMs), () => this.claim(id));
    for (const origin of this.#book.origins()) this.considerSwap(origin);
  }

  claim(id: string): void {
    const { claiming } = this.#book.metered;
    if (claiming.has(id)) return;
    claiming.add(id);
    this.#enqueue({ id, tries: 0, unknown: 0 });
  }

  #enqueue(task: Task): void {
    this.#ready.push(task);
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#running >= MAX_CLAIMS) return;
    this.#running += 1;
    try {
      for (let task = this.#ready.shift(); task !== undefined; task = this.#ready.shift()) await this.#run(task);
    } finally {
      this.#running -= 1;
    }
  }

  async #run(task: Task): Promise<void> {
    const { id } = task;
    const { metered } = this.#book;
    const origin = metered.request(id)?.origin;
    if (metered.sending.has(id)) {
      runLater(FIRST_PAUSE_MS, () => this.#enqueue(task));
      return;
    }
    const claimed = await this.#parts.claims
      .claim(id)
      .catch((error: unknown): Claimed => ({ kind: "later", waitMs: undefined, error }));
    if (claimed.kind === "done") this.#report(claimed.charge);
    if (claimed.kind === "done" || claimed.kind === "lost" || isClosed(claimed.error)) {
      metered.claiming.delete(id);
      if (claimed.kind === "done" && origin !== undefined) this.considerSwap(origin);
      return;
    }
    task.tries += 1;
    if (claimed.kind === "unknown") task.unknown += 1;
    if (task.unknown >= MAX_UNKNOWN) {
      metered.claiming.delete(id);
      if (metered.request(id)?.served === true) await this.#parts.claims.denied(id).catch(() => undefined);
      return;
    }
    const pause = Math.max(FIRST_PAUSE_MS * 2 ** (task.tries - 1), claimed.waitMs ?? 0);
    runLater(Math.min(pause, MAX_PAUSE_MS), () => this.#enqueue(task));
  }

  #report(event: ChargeEvent): void {
    try {
      this.#settings.onCharge(event);
    } catch {
      // An error of the program's callback must not end the process: no call waits for this claim.
    }
  }

  /** Swaps small tokens at an origin at a random time, if there are enough. */
  considerSwap(origin: string): void {
    if (this.#swapping.has(origin) || !this.#parts.swaps.isUseful(origin)) return;
    this.#swapping.add(origin);
    const { random, maxDelayMs } = this.#settings;
    runLater(Math.floor(random() * maxDelayMs), () => void this.#swap(origin, 1));
  }

  async #swap(origin: string, tries: number): Promise<void> {
    const swapped = await this.#parts.swaps
      .swap(origin)
      .catch((error: unknown) => ({ kind: "failed", error }) as const);
    if (swapped.kind === "done") {
      this.#swapping.delete(origin);
      this.considerSwap(origin);
      return;
    }
    const error = "error" in swapped ? swapped.error : undefined;
    const isOver = swapped.kind === "none" || swapped.kind === "lost";
    // Other swaps may be open: those of a merge that runs or failed, and those of a process that ended.
    if ((isOver && this.#book.metered.swaps(origin).length === 0) || isClosed(error)) {
      this.#swapping.delete(origin);
      return;
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS);
    runLater(pause + Math.floor(this.#settings.random() * pause), () => void this.#swap(origin, tries + 1));
  }
}
