// The service's token states that it verified this payment, including its root. It also contains the sender commitment,
// which opens the signals.
import { type PaymentTokenClaims, parseTokenClaims, TOKEN_TYPE } from "@sotto/protocol";
import { decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { CheckFailed } from "../outcome.ts";
import { ALGORITHM, type TokenKeys } from "../service/token-keys.ts";

export class Tokens {
  readonly #keys: TokenKeys;
  readonly #issuers: string[];

  /** @param issuers accepted values of `iss` */
  constructor(keys: TokenKeys, issuers: readonly string[]) {
    this.#keys = keys;
    this.#issuers = [...issuers];
  }

  /**
   * Verifies a token and returns its claims. Expired tokens pass: the expiry limits `settle`, and a header's age is
   * checked against the payment's timestamp.
   * @throws CheckFailed TOKEN; CheckUnavailable
   */
  async read(token: string): Promise<PaymentTokenClaims> {
    const kid = kidOf(token);
    const key = kid === undefined ? undefined : await this.#keys.find(kid);
    if (key === undefined) throw new CheckFailed("TOKEN");
    try {
      // At the epoch, no token has expired.
      const currentDate = new Date(0);
      const pinned = { algorithms: [ALGORITHM], issuer: this.#issuers, typ: TOKEN_TYPE, currentDate };
      const { payload } = await jwtVerify(token, key, pinned);
      return parseTokenClaims(payload);
    } catch {
      throw new CheckFailed("TOKEN");
    }
  }
}

/** The claims of a token, without verifying its signature. @throws CheckFailed TOKEN */
export function decodeClaims(token: string): PaymentTokenClaims {
  try {
    return parseTokenClaims(decodeJwt(token));
  } catch {
    throw new CheckFailed("TOKEN");
  }
}

function kidOf(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === "string" && kid.length <= 256 ? kid : undefined;
  } catch {
    return undefined;
  }
}
