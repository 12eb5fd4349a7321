// What a server of metered routes receives from a payer, prepared before it is sent: requests, the claim of their change, and the
// swaps that follow. Tokens are signed without blinding, and random numbers replace blinded messages: a server cannot tell the difference.
import { constants, randomBytes, sign } from "node:crypto";
import {
  changeClaimOf,
  changeOf,
  encodePrepaidHeader,
  formatChangeRequest,
  formatSwapRequest,
  METERED_RULE_HEADER,
  meteredRuleHash,
  meteredValues,
  nextSwap,
  nonceOfTokenSecret,
  PREPAID_CHANGE_PATH,
  PREPAID_HEADER,
  PREPAID_KEY_BYTES,
  PREPAID_SWAP_PATH,
  type PrepaidToken,
  prepaidChallengeDigest,
  prepaidTokenInput,
  signChangeClaim,
} from "@sotto/prepaid";
import type { MerchantSecret, MeteredMerchant } from "./metered-merchant.ts";
import { RULE } from "./metered-rule.ts";

/** A paid request, in the order in which its parts are sent. */
export interface PreparedRequest {
  readonly path: string;
  /** The headers that pay, each with its line end. */
  readonly headers: string;
  /** Path and body of the claim, and of the swaps of tokens that the payer has by then. */
  readonly others: readonly (readonly [string, string])[];
}

/** The words of the requests: each number from 1 to 100 once, so that each charge is as frequent. */
export const wordsOf = (i: number): number => ((i * 37) % 100) + 1;
/** Random messages that are smaller than any 2048-bit modulus. */
const messages = (count: number): Uint8Array => {
  const bytes = new Uint8Array(randomBytes(count * PREPAID_KEY_BYTES));
  for (let i = 0; i < bytes.length; i += PREPAID_KEY_BYTES) bytes[i]! &= 0x7f;
  return bytes;
};

export class PreparedPayer {
  readonly #origin: string;
  readonly #epoch: string;
  readonly #secrets: ReadonlyMap<bigint, MerchantSecret>;
  readonly #challengeDigest: string;
  /** The values of the unspent tokens. */
  #held: bigint[] = [];
  #requests = 0;

  constructor({ origin, epoch, secrets }: MeteredMerchant) {
    this.#origin = origin;
    this.#epoch = epoch;
    this.#challengeDigest = prepaidChallengeDigest(origin);
    this.#secrets = new Map(secrets.map((secret) => [secret.value, secret]));
  }

  #sign(value: bigint, nonce: string): PrepaidToken {
    const { privateKey: key, keyId } = this.#secrets.get(value)!;
    const token = { nonce, challengeDigest: this.#challengeDigest, keyId };
    const options = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
    return { ...token, signature: new Uint8Array(sign("sha384", prepaidTokenInput(token), options)) };
  }

  /** The next request, for which a token of the cap's value is bought if no swap has made one. */
  next(): PreparedRequest {
    const words = wordsOf(this.#requests++);
    const secret = new Uint8Array(randomBytes(32));
    const token = this.#sign(RULE.cap, nonceOfTokenSecret(secret));
    this.#take([RULE.cap]);
    const charge = RULE.grain * BigInt(words);
    const change = changeOf(RULE, charge);
    this.#held.push(...change);
    // The response says the charge, so receipt and change are asked for at once.
    const wanted = change.length === 0 ? {} : { batch: messages(change.length), charge };
    const proof = signChangeClaim(changeClaimOf(this.#origin, { token, ...wanted }), secret);
    const claim = [PREPAID_CHANGE_PATH, formatChangeRequest({ token, proof, ...wanted })] as const;
    return {
      path: `/metered/${words}`,
      headers: `${PREPAID_HEADER}: ${encodePrepaidHeader(token)}\r\n${METERED_RULE_HEADER}: ${meteredRuleHash(RULE)}\r\n`,
      others: [claim, ...this.#swaps()],
    };
  }

  #take(values: readonly bigint[]): void {
    for (const value of values) {
      const i = this.#held.indexOf(value);
      if (i >= 0) this.#held.splice(i, 1);
    }
  }

  /** All swaps that are possible now. */
  #swaps(): (readonly [string, string])[] {
    const swaps: (readonly [string, string])[] = [];
    for (;;) {
      const recipe = nextSwap(meteredValues(RULE), this.#held);
      if (recipe === undefined) return swaps;
      const { spend, receive } = recipe;
      this.#take(spend);
      this.#held.push(...receive);
      const tokens = spend.map((value) =>
        encodePrepaidHeader(this.#sign(value, `0x${randomBytes(32).toString("hex")}`)),
      );
      swaps.push([
        PREPAID_SWAP_PATH,
        formatSwapRequest({ epoch: this.#epoch, tokens, batch: messages(receive.length) }),
      ]);
    }
  }
}
