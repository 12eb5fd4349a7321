import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { ServiceError } from "../errors/errors.ts";
import type { KeyRing } from "./key-ring.ts";
import { ALGORITHM } from "./keys.ts";

/** What a payment token says, beside iss, iat and exp. Numbers that may pass 2^53 are decimal strings. */
export interface TokenClaims {
  /** The reservation's id, and the payment's from then on. */
  readonly jti: string;
  /** keccak256 of the ten public signals, hex. */
  readonly digest: string;
  readonly chainId: string;
  readonly pool: string;
  /** The recipient's wallet. */
  readonly recipient: string;
  /** PK.x and owner tag of the recipient's shielded address, decimal. */
  readonly recipientKey: string;
  readonly recipientTag: string;
  readonly resource: string;
  /** Decimal: it opens signals 0 and 1 for the resource server. */
  readonly senderCommitment: string;
  readonly nullifier: string;
  /** Of the bundle, ms. */
  readonly timestamp: number;
  /** Seconds. */
  readonly validUntil: number;
}

export const TOKEN_TYPE = "sotto-payment+jwt";
const LONGEST_TOKEN = 8192;

export class TokenIssuer {
  readonly #ring: KeyRing;
  readonly #issuer: string;
  readonly #clock: () => number;

  constructor(ring: KeyRing, issuer: string, clock: () => number = Date.now) {
    this.#ring = ring;
    this.#issuer = issuer;
    this.#clock = clock;
  }

  /** @param expiresIn seconds */
  async issue(claims: TokenClaims, expiresIn: number): Promise<string> {
    const { kid, privateKey } = await this.#ring.signer();
    const now = Math.floor(this.#clock() / 1000);
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: TOKEN_TYPE })
      .setIssuer(this.#issuer)
      .setIssuedAt(now)
      .setExpirationTime(now + expiresIn)
      .sign(privateKey);
  }

  /**
   * Checks a token's signature. Whether it has expired is told, not thrown: a payment that was queued in time is
   * answered for as long as anyone asks.
   * @throws ServiceError INVALID_TOKEN
   */
  async read(token: string): Promise<{ claims: TokenClaims; expired: boolean }> {
    const payload = await this.#verify(token);
    const { jti, digest, exp } = payload;
    if (typeof jti !== "string" || typeof digest !== "string" || typeof exp !== "number") throw invalid();
    return { claims: payload as unknown as TokenClaims, expired: exp * 1000 <= this.#clock() };
  }

  async #verify(token: string): Promise<JWTPayload> {
    try {
      if (token.length > LONGEST_TOKEN) throw invalid();
      const { kid } = decodeProtectedHeader(token);
      const key = typeof kid === "string" ? await this.#ring.find(kid) : undefined;
      if (key === undefined) throw invalid();
      const checks = { algorithms: [ALGORITHM], issuer: this.#issuer, typ: TOKEN_TYPE, currentDate: new Date(0) };
      return (await jwtVerify(token, key.publicJwk, checks)).payload;
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw invalid(cause);
    }
  }
}

function invalid(cause?: unknown): ServiceError {
  return new ServiceError("INVALID_TOKEN", "paymentToken is not a token of this service", {}, { cause });
}
