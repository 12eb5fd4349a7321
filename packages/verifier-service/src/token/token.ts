import {
  MAX_PAYMENT_TOKEN_LENGTH,
  type PaymentTokenClaims,
  parseTokenClaims,
  SottoError,
  TOKEN_TYPE,
} from "@sotto/protocol";
import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { ServiceError } from "../errors.ts";
import type { KeyRing } from "./key-ring.ts";
import { ALGORITHM } from "./keys.ts";

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
  async issue(claims: PaymentTokenClaims, expiresIn: number): Promise<string> {
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
   * Checks a token's signature. An expired token is returned, not refused, because a payment that was queued in time
   * must still be answered.
   * @throws ServiceError INVALID_TOKEN
   */
  async read(token: string): Promise<{ claims: PaymentTokenClaims; expired: boolean }> {
    const payload = await this.#verify(token);
    if (typeof payload.exp !== "number") throw invalid();
    return { claims: parseClaims(payload), expired: payload.exp * 1000 <= this.#clock() };
  }

  async #verify(token: string): Promise<JWTPayload> {
    try {
      if (token.length > MAX_PAYMENT_TOKEN_LENGTH) throw invalid();
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

function parseClaims(payload: JWTPayload): PaymentTokenClaims {
  try {
    return parseTokenClaims(payload);
  } catch (cause) {
    if (cause instanceof SottoError) throw invalid(cause);
    throw cause;
  }
}

function invalid(cause?: unknown): ServiceError {
  return new ServiceError("INVALID_TOKEN", "paymentToken is not a token of this service", {}, { cause });
}
