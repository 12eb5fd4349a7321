import type { JWK } from "jose";
import type { KeySource, TokenKey } from "./keys.ts";

/** The folder is read again after this time, or at once if a token names an unknown key. */
const REREAD_MS = 10_000;
/** Minimum time between two reads, because tokens can name any key. */
const MIN_REREAD_MS = 1_000;

/** The current keys. Keys may be added and removed while the service runs. */
export class KeyRing {
  #source: KeySource;
  readonly #clock: () => number;
  readonly #onError: (error: unknown) => void;
  #keys: readonly TokenKey[];
  #readAt: number;

  private constructor(
    source: KeySource,
    keys: readonly TokenKey[],
    clock: () => number,
    onError: (error: unknown) => void,
  ) {
    this.#source = source;
    this.#keys = keys;
    this.#clock = clock;
    this.#onError = onError;
    this.#readAt = clock();
  }

  /**
   * @param onError called if the keys can no longer be read; the known keys stay in use
   * @throws ServiceError TOKEN_KEY_INVALID
   */
  static async open(source: KeySource, clock: () => number, onError: (error: unknown) => void): Promise<KeyRing> {
    return new KeyRing(source, await source(), clock, onError);
  }

  /**
   * Reads the keys of a source, to use them instead of the present ones.
   * @returns a function that does it
   * @throws ServiceError TOKEN_KEY_INVALID; the present keys stay in use
   */
  async prepare(source: KeySource): Promise<() => void> {
    const keys = await source();
    return () => {
      this.#source = source;
      this.#keys = keys;
      this.#readAt = this.#clock();
    };
  }

  /** The newest key. */
  async signer(): Promise<TokenKey> {
    await this.#refresh(REREAD_MS);
    return this.#keys.at(-1)!;
  }

  async find(kid: string): Promise<TokenKey | undefined> {
    const known = this.#keys.find((key) => key.kid === kid);
    await this.#refresh(known === undefined ? MIN_REREAD_MS : REREAD_MS);
    return this.#keys.find((key) => key.kid === kid);
  }

  async publicKeys(): Promise<{ keys: JWK[] }> {
    await this.#refresh(MIN_REREAD_MS);
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) };
  }

  async #refresh(age: number): Promise<void> {
    if (this.#clock() - this.#readAt < age) return;
    this.#readAt = this.#clock();
    const source = this.#source;
    try {
      const keys = await source();
      // Another source may have replaced it meanwhile.
      if (source === this.#source) this.#keys = keys;
    } catch (error) {
      this.#onError(error);
    }
  }
}
