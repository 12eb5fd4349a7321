// The checks of a token, cheapest first. Nothing is written for an invalid one.
import { verify } from "node:crypto";
import { type PrepaidToken, prepaidTokenInput } from "@sotto/protocol/prepaid";
import { CheckFailed } from "../outcome.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Key, Keyring } from "./keyring.ts";
import { openingOf, type PrepaidStore, type Spend, spendId } from "./store.ts";

/** The method and target that a token pays for. */
export interface TokenUse {
  readonly method: string;
  readonly target: string;
  /** Base units. */
  readonly price: bigint;
}

/** A spent token. */
export interface SpentToken {
  readonly id: string;
  readonly key: Key;
  /**
   * A status of 500 or above, or "unstarted" (the client was gone before the handler started), returns the token. Only
   * the first call counts. Never rejects.
   */
  finish(outcome: number | "aborted" | "unstarted"): Promise<void>;
}

export interface RedemptionParts {
  readonly keyring: Keyring;
  readonly store: PrepaidStore;
  readonly challengeDigest: string;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

/**
 * Rejects also a signature that is not below the modulus. The key itself names padding and salt: Node takes about as long
 * to read them from an object with options as to verify.
 */
const isSigned = (token: PrepaidToken, { publicKey }: Key): boolean =>
  verify("sha384", prepaidTokenInput(token), publicKey, token.signature);

export class Redemption {
  readonly #parts: RedemptionParts;
  readonly #commits: GroupCommit;
  /** What the tokens open whose handlers run in this process, or whose return is being stored. */
  readonly #running = new Map<string, string>();
  /** Tokens spent by this process so far. */
  spent = 0;

  constructor(parts: RedemptionParts) {
    this.#parts = parts;
    this.#commits = new GroupCommit(parts.store, parts.onError);
  }

  /**
   * Checks and spends a token.
   *
   * @throws CheckFailed PREPAID_KEY, PREPAID_VALUE, PREPAID_CHALLENGE, PREPAID_SIGNATURE, PREPAID_SPENT, PREPAID_BUSY;
   *   CheckUnavailable
   */
  async redeem(token: PrepaidToken, { method, target, price }: TokenUse): Promise<SpentToken> {
    const { keyring, challengeDigest, clock } = this.#parts;
    const key = keyring.find(token.keyId);
    if (key === undefined || !keyring.redeems(key, clock())) throw new CheckFailed("PREPAID_KEY");
    if (key.value !== price) throw new CheckFailed("PREPAID_VALUE");
    if (token.challengeDigest !== challengeDigest) throw new CheckFailed("PREPAID_CHALLENGE");
    if (!isSigned(token, key)) throw new CheckFailed("PREPAID_SIGNATURE");
    const nonce = Buffer.from(token.nonce.slice(2), "hex").toString("base64url");
    const spend = { keyId: key.id, nonce, opens: openingOf(method, target) };
    const id = spendId(spend);
    // Its handler may still fail, and then the token opens the same request again.
    if (this.#running.get(id) === spend.opens) throw new CheckFailed("PREPAID_BUSY", 2);
    const holder = await this.#commits.spend(spend);
    if (holder === undefined) throw new CheckFailed("PREPAID_SPENT");
    this.spent += 1;
    this.#running.set(id, spend.opens);
    return { id: `prepaid:${id}`, key, finish: this.#finish(spend, holder) };
  }

  #finish(spend: Spend, holder: string): SpentToken["finish"] {
    const { store, onError } = this.#parts;
    let finished = false;
    return async (outcome) => {
      if (finished) return;
      finished = true;
      try {
        if (outcome === "unstarted" || (outcome !== "aborted" && outcome >= 500)) await store.restore(spend, holder);
      } catch (error) {
        onError(error);
      } finally {
        this.#running.delete(spendId(spend));
      }
    };
  }

  end(): Promise<void> {
    return this.#commits.end();
  }
}
