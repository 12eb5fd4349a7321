// The checks of a token, cheapest first. Nothing is written for an invalid one.
import { CheckFailed } from "../outcome.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Key, Keyring } from "./keyring.ts";
import { type PrepaidStore, type Spend, spendId } from "./store.ts";
import { type ShownToken, Verifier } from "./verifier.ts";

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

export class Redemption {
  readonly #parts: RedemptionParts;
  readonly #verifier: Verifier;
  readonly #commits: GroupCommit;
  /** What the tokens open whose handlers run in this process, or whose return is being stored. */
  readonly #running = new Map<string, string>();
  /** Tokens spent by this process so far. */
  spent = 0;

  constructor(parts: RedemptionParts) {
    this.#parts = parts;
    this.#verifier = new Verifier(parts.keyring.all);
    this.#commits = new GroupCommit(parts.store, parts.onError);
  }

  /**
   * Checks and spends a token.
   *
   * @throws CheckFailed PREPAID_KEY, PREPAID_VALUE, PREPAID_CHALLENGE, PREPAID_SIGNATURE, PREPAID_SPENT, PREPAID_BUSY;
   *   CheckUnavailable
   */
  async redeem(token: ShownToken, { method, target, price }: TokenUse): Promise<SpentToken> {
    const { keyring, challengeDigest, clock } = this.#parts;
    const key = keyring.find(token.keyId);
    if (key === undefined || !keyring.redeems(key, clock())) throw new CheckFailed("PREPAID_KEY");
    if (key.value !== price) throw new CheckFailed("PREPAID_VALUE");
    if (token.challengeDigest !== challengeDigest) throw new CheckFailed("PREPAID_CHALLENGE");
    if (!(await this.#verifier.isSigned(token))) throw new CheckFailed("PREPAID_SIGNATURE");
    const nonce = Buffer.from(token.nonce.slice(2), "hex").toString("base64url");
    const spend = { keyId: key.id, nonce, opens: `${method} ${target}` };
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

  /** Resolves once every token that waits is spent or refused. */
  async end(): Promise<void> {
    await this.#verifier.close();
    await this.#commits.end();
  }
}
