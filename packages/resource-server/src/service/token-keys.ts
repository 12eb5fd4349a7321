// The public keys of the service's tokens, taken anew now and then: keys are rotated, and revoked.
import { type CryptoKey, importJWK } from "jose";
import { PaywallError } from "../errors.ts";
import { CheckUnavailable } from "../outcome.ts";
import { request } from "./keys.ts";

const LIMITS = { timeout: 5_000, size: 64 * 1024 };
const MOST_KEYS = 64;
export const ALGORITHM = "EdDSA";

/** Taken anew after this time, while the old ones are used. */
const REFRESH_MS = 5 * 60_000;
/** Not used any longer where none could be had since: a key may have been revoked. */
const STALE_MS = 60 * 60_000;
/** A token can name any key: it does not make us ask more often than this. */
const LEAST_REFRESH_MS = 10_000;

type Keys = ReadonlyMap<string, CryptoKey>;

/** Reads a JWK set. Keys of other kinds are left out; none of ours is an error. */
export async function readKeySet(value: unknown): Promise<Keys> {
  const set = Object(value)["keys"] as unknown;
  if (!Array.isArray(set) || set.length > MOST_KEYS) throw new Error("expected a JWK set");
  const keys = new Map<string, CryptoKey>();
  for (const key of set as unknown[]) {
    const { kty, crv, kid, x, use = "sig", alg = ALGORITHM } = Object(key) as Record<string, unknown>;
    if (kty !== "OKP" || crv !== "Ed25519" || use !== "sig" || alg !== ALGORITHM) continue;
    if (typeof kid !== "string" || typeof x !== "string" || keys.has(kid)) continue;
    keys.set(kid, (await importJWK({ kty, crv, x }, ALGORITHM)) as CryptoKey);
  }
  if (keys.size === 0) throw new Error("the JWK set holds no Ed25519 key with a kid");
  return keys;
}

export class TokenKeys {
  readonly #url: string | undefined;
  readonly #clock: () => number;
  #keys: Keys;
  /** Of the last answer, ms. */
  #answeredAt: number;
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
      throw new PaywallError("SERVICE_UNAVAILABLE", `${url} does not give the keys of its tokens`, { url }, { cause });
    });
    return new TokenKeys(url, keys, clock);
  }

  static pinned(keys: Keys, clock: () => number): TokenKeys {
    return new TokenKeys(undefined, keys, clock);
  }

  /**
   * @returns undefined where the service has no such key
   * @throws CheckUnavailable where it cannot be asked
   */
  async find(kid: string): Promise<CryptoKey | undefined> {
    if (this.#url === undefined) return this.#keys.get(kid);
    const age = this.#clock() - this.#answeredAt;
    if (age > STALE_MS || !this.#keys.has(kid)) await this.#refreshRarely();
    else if (age > REFRESH_MS) this.#refreshRarely().catch(() => undefined);
    return this.#keys.get(kid);
  }

  async #refreshRarely(): Promise<void> {
    const recent = this.#clock() - this.#askedAt < LEAST_REFRESH_MS;
    // Not asked now, so nothing is known of the key; whoever comes while a question is on its way waits for its answer.
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

async function fetchKeys(url: string): Promise<Keys> {
  const { status, body } = await request(url, LIMITS);
  if (status !== 200) throw new Error(`status ${status}`);
  return readKeySet(JSON.parse(new TextDecoder().decode(body)));
}
