import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { ServiceError } from "../errors/errors.ts";
import { TOKEN_TYPE, type TokenClaims } from "./claims.ts";
import type { KeyRing } from "./key-ring.ts";
import { ALGORITHM } from "./keys.ts";

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
