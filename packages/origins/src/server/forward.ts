// Tells a curator which payments showed its set: what they paid for then inherits the origin, even if the payer claims nothing.
import { readBody } from "@sotto/protocol";
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

/** Sends claims to a curator in the background, each once. */
export class ClaimForwarder {
  readonly #url: string;
  readonly #send: typeof fetch;
  readonly #onError: (error: unknown) => void;
  /** By nullifier, oldest first. */
  readonly #waiting = new Map<bigint, OriginClaim>();
  readonly #sent = new Set<bigint>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  #tries = 0;
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
    this.#waiting.set(nullifier, claim);
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
    await Promise.race([this.#flush().catch(() => undefined), limit]);
    clearTimeout(timer);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#closed || this.#waiting.size === 0) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#flush().then(
          () => this.#schedule(),
          () => this.#schedule(),
        );
      },
      Math.min(FIRST_PAUSE_MS * 2 ** this.#tries, MAX_PAUSE_MS),
    );
    this.#timer.unref?.();
  }

  #flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const claims = [...this.#waiting.values()].slice(0, MAX_CLAIMS);
      try {
        const early = await this.#post(claims);
        for (const { nullifier } of claims) if (!early.has(nullifier)) this.#done(nullifier);
        if (early.size === 0) this.#tries = 0;
        else this.#postpone(claims, early);
        if (early.size === 0 || this.#tries === 0) continue;
        return;
      } catch (error) {
        this.#onError(error);
        this.#tries += 1;
        if (this.#tries < MAX_TRIES) throw error;
        // The curator will not take these: others may pass.
        this.#tries = 0;
      }
      for (const { nullifier } of claims) this.#done(nullifier);
    }
  }

  /** Lets claims wait behind the others, or drops them after the last try. */
  #postpone(claims: readonly OriginClaim[], early: ReadonlySet<bigint>): void {
    const isLast = this.#tries + 1 >= MAX_TRIES;
    this.#tries = isLast ? 0 : this.#tries + 1;
    for (const claim of claims) {
      if (!early.has(claim.nullifier)) continue;
      this.#waiting.delete(claim.nullifier);
      if (isLast) this.#done(claim.nullifier);
      else this.#waiting.set(claim.nullifier, claim);
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
      redirect: "error",
      credentials: "omit",
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
