// The service's word for a payment: that it verified this very one. It vouches for the root, and gives the sender
// commitment, which opens the signals.
import { type PaymentTokenClaims, parseTokenClaims, TOKEN_TYPE } from "@sotto/protocol";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { CheckFailed } from "../outcome.ts";
import { ALGORITHM, type TokenKeys } from "../service/token-keys.ts";

export class Tokens {
  readonly #keys: TokenKeys;
  readonly #issuers: string[];

  /** @param issuers any of them may have signed */
  constructor(keys: TokenKeys, issuers: readonly string[]) {
    this.#keys = keys;
    this.#issuers = [...issuers];
  }

  /**
   * The claims of a token that the service signed. Its expiry is for settle; a header goes by the payment's timestamp.
   *
   * @throws CheckFailed TOKEN; CheckUnavailable
   */
  async read(token: string): Promise<PaymentTokenClaims> {
    const kid = kidOf(token);
    const key = kid === undefined ? undefined : await this.#keys.find(kid);
    if (key === undefined) throw new CheckFailed("TOKEN");
    try {
      // At the epoch no token has expired.
      const currentDate = new Date(0);
      const pinned = { algorithms: [ALGORITHM], issuer: this.#issuers, typ: TOKEN_TYPE, currentDate };
      const { payload } = await jwtVerify(token, key, pinned);
      return parseTokenClaims(payload);
    } catch {
      throw new CheckFailed("TOKEN");
    }
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
