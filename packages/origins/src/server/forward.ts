// Tells a curator which payments showed its set: what they paid for then inherits the origin, even if the payer claims nothing.
import { ANONYMOUS, readBody } from "@sotto/protocol";
import { encodeClaim, type OriginClaim } from "../core/claim.ts";
import { CLAIMS_PATH, MAX_CLAIMS } from "../core/publication.ts";

/** Maximum claims that wait; the oldest are dropped beyond it. The payer claims too, so none is lost for good. */
const MAX_WAITING = 1_024;
/** How many claims are remembered as sent. */
const MAX_SENT = 8_192;
/** Milliseconds until claims are sent, so that several go together. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 300_000;
const MAX_TRIES = 20;
/** The curator's result for a claim of a payment that it has not seen with its confirmations. */
const NOT_SETTLED = "ORIGIN_NOT_SETTLED";
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
/** How long the last claims may take when the server closes, ms. */
const CLOSING_MS = 2_000;

/** A claim that waits. */
interface Waiting {
  readonly claim: OriginClaim;
  /** How often it was sent. */
  readonly tries: number;
  /** When it is sent again, ms. */
  readonly next: number;
}

/** Sends claims to a curator in the background, with retries; ignores a claim that is added again. */
export class ClaimForwarder {
  readonly #url: string;
  readonly #send: typeof fetch;
  readonly #onError: (error: unknown) => void;
  /** By nullifier, oldest first. */
  readonly #waiting = new Map<bigint, Waiting>();
  readonly #sent = new Set<bigint>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  #closed = false;

  /** @param curator its base URL */
  constructor(curator: string, send: typeof fetch, onError: (error: unknown) => void) {
    this.#url = `${curator}/${CLAIMS_PATH}`;
    this.#send = send;
    this.#onError = onError;
  }

  /** Adds a claim whose proof was checked. */
  add(claim: OriginClaim): void {
    const { nullifier } = claim;
    if (this.#closed || this.#sent.has(nullifier) || this.#waiting.has(nullifier)) return;
    if (this.#waiting.size >= MAX_WAITING) {
      const [oldest] = this.#waiting.keys();
      this.#waiting.delete(oldest!);
    }
    this.#waiting.set(nullifier, { claim, tries: 0, next: Date.now() + FIRST_PAUSE_MS });
    this.#schedule();
  }

  /** Sends what waits, for at most two seconds. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSING_MS);
    });
    const last = (this.#sending ?? Promise.resolve()).then(() => this.#flush(Number.POSITIVE_INFINITY));
    await Promise.race([last, limit]);
    clearTimeout(timer);
  }

  #schedule(): void {
    if (this.#closed || this.#sending !== undefined || this.#waiting.size === 0) return;
    clearTimeout(this.#timer);
    const next = Math.min(...[...this.#waiting.values()].map((each) => each.next));
    this.#timer = setTimeout(
      () => {
        this.#sending = this.#flush(Date.now()).finally(() => {
          this.#sending = undefined;
          this.#schedule();
        });
      },
      Math.max(0, next - Date.now()),
    );
    this.#timer.unref?.();
  }

  /** Sends the claims that are due. Never rejects. @param now ms */
  async #flush(now: number): Promise<void> {
    const due = [...this.#waiting.values()].filter(({ next }) => next <= now);
    for (let i = 0; i < due.length; i += MAX_CLAIMS) {
      const batch = due.slice(i, i + MAX_CLAIMS);
      let early: ReadonlySet<bigint> | undefined;
      try {
        early = await this.#post(batch.map(({ claim }) => claim));
      } catch (error) {
        this.#onError(error);
      }
      for (const each of batch)
        if (early === undefined || early.has(each.claim.nullifier)) this.#postpone(each);
        else this.#done(each.claim.nullifier);
    }
  }

  /** Lets a claim wait, or drops it after the last try. */
  #postpone({ claim, tries }: Waiting): void {
    if (tries + 1 >= MAX_TRIES) this.#done(claim.nullifier);
    else {
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** (tries + 1), MAX_PAUSE_MS);
      this.#waiting.set(claim.nullifier, { claim, tries: tries + 1, next: Date.now() + pause });
    }
  }

  /**
   * @returns nullifiers of payments that the curator has not seen on the chain yet
   * @throws Error if the curator may take the claims later
   */
  async #post(claims: readonly OriginClaim[]): Promise<ReadonlySet<bigint>> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await this.#send(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ claims: claims.map(encodeClaim) }),
      ...ANONYMOUS,
      redirect: "error",
      signal,
    });
    const { status } = response;
    const body = await readBody(response, MAX_ANSWER_BYTES, signal);
    if (status === 429 || status >= 500) throw new Error(`the curator answers ${status} to claims`);
    if (status >= 300) {
      this.#onError(new Error(`the curator refuses claims with ${status}`));
      return new Set();
    }
    const { results } = Object(JSON.parse(new TextDecoder().decode(body))) as { results?: unknown };
    const isEarly = (i: number) => Array.isArray(results) && results[i] === NOT_SETTLED;
    return new Set(claims.flatMap(({ nullifier }, i) => (isEarly(i) ? [nullifier] : [])));
  }

  #done(nullifier: bigint): void {
    this.#waiting.delete(nullifier);
    this.#sent.add(nullifier);
    const [oldest] = this.#sent;
    if (this.#sent.size > MAX_SENT) this.#sent.delete(oldest!);
  }
}
