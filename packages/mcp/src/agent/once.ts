import { AgentError } from "../errors.ts";

/** Maximum number of remembered calls. */
const MAX_REMEMBERED = 256;
/** Maximum bytes of remembered results, as the caller estimates them. */
const MAX_BYTES = 16 * 1024 * 1024;

interface Entry<T> {
  readonly fingerprint: string;
  readonly result: Promise<T>;
  bytes: number;
}

/**
 * Runs a call once: a repeated call, during or after the first one, gets the same result. Failed calls are forgotten, so that
 * they can be retried. The oldest results are forgotten first; the wallet's own record then prevents a second payment.
 */
export class Once<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #sizeOf: (result: T) => number;
  readonly #keeps: (result: T) => boolean;
  #bytes = 0;

  /** @param keeps whether a result is remembered after the call has ended */
  constructor(sizeOf: (result: T) => number, keeps: (result: T) => boolean) {
    this.#sizeOf = sizeOf;
    this.#keeps = keeps;
  }

  /** @throws AgentError CALL_MISMATCH if the key belongs to a call with another fingerprint */
  run(key: string, fingerprint: string, call: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      if (known.fingerprint === fingerprint) return known.result;
      throw new AgentError("CALL_MISMATCH", "this idempotency key was used for a call with other arguments");
    }
    const entry: Entry<T> = { fingerprint, result: call(), bytes: 0 };
    this.#entries.set(key, entry);
    entry.result.then(
      (result) => (this.#keeps(result) ? this.#remember(entry, this.#sizeOf(result)) : this.#forget(key)),
      () => this.#forget(key),
    );
    return entry.result;
  }

  #remember(entry: Entry<T>, bytes: number): void {
    entry.bytes = bytes;
    this.#bytes += bytes;
    for (const [key, { bytes: size }] of this.#entries) {
      if (this.#entries.size <= MAX_REMEMBERED && this.#bytes <= MAX_BYTES) return;
      // A size of 0: the call is still running.
      if (size > 0) this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
