// The public keys of the service's tokens, refreshed periodically: the service rotates and revokes keys.
import { type CryptoKey, importJWK } from "jose";
import { PaywallError } from "../errors.ts";
import { CheckUnavailable } from "../outcome.ts";
import { request } from "./keys.ts";

const LIMITS = { timeoutMs: 5_000, maxBytes: 64 * 1024 };
const MAX_KEYS = 64;
export const ALGORITHM = "EdDSA";

/** After this time the keys are refreshed in the background. */
const REFRESH_MS = 5 * 60_000;
/** Keys older than this are not used, because a key may have been revoked. */
const MAX_AGE_MS = 60 * 60_000;
/** Minimum time between refreshes, because any token can name an unknown key. */
const MIN_REFRESH_MS = 10_000;

type Keys = ReadonlyMap<string, CryptoKey>;

/** Parses the Ed25519 keys of a JWK set. @throws Error if there are none */
export async function parseKeySet(value: unknown): Promise<Keys> {
  const set = Object(value)["keys"] as unknown;
  if (!Array.isArray(set) || set.length > MAX_KEYS) throw new Error(`expected a JWK set with at most ${MAX_KEYS} keys`);
  const keys = new Map<string, CryptoKey>();
  for (const key of set as unknown[]) {
    const { kty, crv, kid, x, use = "sig", alg = ALGORITHM } = Object(key) as Record<string, unknown>;
    if (kty !== "OKP" || crv !== "Ed25519" || use !== "sig" || alg !== ALGORITHM) continue;
    if (typeof kid !== "string" || typeof x !== "string" || keys.has(kid)) continue;
    keys.set(kid, (await importJWK({ kty, crv, x }, ALGORITHM)) as CryptoKey);
  }
  if (keys.size === 0) throw new Error("the JWK set has no Ed25519 key with a kid");
  return keys;
}

export class TokenKeys {
  readonly #url: string | undefined;
  readonly #clock: () => number;
  #keys: Keys;
  /** Time of the last response, ms. */
  #answeredAt: number;
  /** Time of the last request, ms. */
  #askedAt: number;
  #asking: Promise<boolean> | undefined;

  private constructor(url: string | undefined, keys: Keys, clock: () => number) {
    this.#url = url;
    this.#keys = keys;
    this.#clock = clock;
    this.#answeredAt = clock();
    this.#askedAt = clock();
  }

  /** @throws PaywallError SERVICE_UNAVAILABLE */
  static async fetched(service: string, clock: () => number): Promise<TokenKeys> {
    const url = `${service}/.well-known/jwks.json`;
    const keys = await fetchKeys(url).catch((cause: unknown) => {
      // Other messages may quote the response.
      const reason = cause instanceof WrongStatus ? `: ${cause.message}` : "";
      throw new PaywallError(
        "SERVICE_UNAVAILABLE",
        `${url} does not return the service's token keys${reason}`,
        { url },
        { cause },
      );
    });
    return new TokenKeys(url, keys, clock);
  }

  static pinned(keys: Keys, clock: () => number): TokenKeys {
    return new TokenKeys(undefined, keys, clock);
  }

  /**
   * @returns undefined if the service has no such key
   * @throws CheckUnavailable if the service cannot be reached
   */
  async find(kid: string): Promise<CryptoKey | undefined> {
    if (this.#url === undefined) return this.#keys.get(kid);
    const age = this.#clock() - this.#answeredAt;
    if (age > MAX_AGE_MS || !this.#keys.has(kid)) await this.#refreshWithinLimit();
    else if (age > REFRESH_MS) this.#refreshWithinLimit().catch(() => undefined);
    return this.#keys.get(kid);
  }

  async #refreshWithinLimit(): Promise<void> {
    const recent = this.#clock() - this.#askedAt < MIN_REFRESH_MS;
    // Too soon for another request, so the key stays unknown. A request in flight is awaited instead.
    if (recent && this.#asking === undefined) throw unavailable();
    await this.#refresh();
  }

  async #refresh(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    if (!(await this.#asking)) throw unavailable();
  }

  async #ask(): Promise<boolean> {
    this.#askedAt = this.#clock();
    try {
      this.#keys = await fetchKeys(this.#url as string);
      this.#answeredAt = this.#clock();
      return true;
    } catch {
      return false;
    }
  }
}

const unavailable = (): CheckUnavailable => new CheckUnavailable("SERVICE_UNAVAILABLE", 10);

class WrongStatus extends Error {
  constructor(status: number) {
    super(`status ${status}, expected 200`);
  }
}

async function fetchKeys(url: string): Promise<Keys> {
  const { status, body } = await request(url, LIMITS);
  if (status !== 200) throw new WrongStatus(status);
  return parseKeySet(JSON.parse(new TextDecoder().decode(body)));
}
