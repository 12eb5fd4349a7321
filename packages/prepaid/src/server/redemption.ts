// The checks of a token, cheapest first. Nothing is written for an invalid one.
import { CheckFailed } from "@sotto/resource-server";
import type { CommitAnswer, CommitOrder } from "./commit-order.ts";
import type { Key, Keyring } from "./keyring.ts";
import type { ChargeUpdate, MeteredSpend } from "./metered/store.ts";
import type { ShownToken } from "./shown-token.ts";
import { Spender } from "./spender.ts";
import type { PrepaidStore, Spend } from "./store.ts";
import { spendId, type TokenId } from "./token-id.ts";

/** The method and target that a token pays for. */
export interface TokenUse {
  readonly method: string;
  readonly target: string;
  /** Base units. */
  readonly price: bigint;
}

export interface SpentToken {
  readonly id: string;
  readonly key: Key;
  /**
   * A status of 500 or above, or "unstarted" (the client was gone before the handler started), returns the token. Only
   * the first call counts. Never rejects.
   */
  finish(outcome: number | "aborted" | "unstarted"): Promise<void>;
}

/** A token that was spent for a request of a metered route. */
export interface SpentForMeter extends TokenId {
  readonly id: string;
  readonly key: Key;
  /** The order that spent it. */
  readonly holder: string;
}

export interface RedemptionParts {
  readonly keyring: Keyring;
  readonly store: PrepaidStore;
  readonly challengeDigest: string;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
}

/** A token that waits for the spender's answer. */
interface Asked {
  readonly opens: string;
  readonly holder: Promise<string | undefined>;
}

export class Redemption {
  readonly #parts: RedemptionParts;
  readonly #spender: Spender;
  /** By the token's id. */
  readonly #asked = new Map<string, Set<Asked>>();
  /** The tokens whose handlers run in this process, or whose return is being stored, by id. */
  readonly #running = new Map<string, Spend>();
  /** Tokens spent by this process so far. */
  spent = 0;

  constructor(parts: RedemptionParts) {
    this.#parts = parts;
    const { keyring, store, clock, onError } = parts;
    this.#spender = new Spender({ keys: keyring.all, store, clock, onError });
  }

  /**
   * Checks and spends a token.
   * @throws CheckFailed PREPAID_KEY, PREPAID_VALUE, PREPAID_CHALLENGE, PREPAID_SIGNATURE, PREPAID_SPENT, PREPAID_BUSY;
   *   CheckUnavailable
   */
  async redeem(token: ShownToken, { method, target, price }: TokenUse): Promise<SpentToken> {
    const key = this.#check(token, price);
    const spend = { keyId: key.id, nonce: token.nonce, opens: `${method} ${target}` };
    const id = spendId(spend);
    // Its handler may still fail, and then the token opens the same request again.
    const isBusy = () => this.#running.get(id)?.opens === spend.opens;
    const wasBusy = isBusy();
    const holder = await this.#spend(id, token.header, spend);
    if (holder === undefined)
      throw wasBusy || isBusy() || (await this.#isBeingSpent(id, spend.opens))
        ? new CheckFailed("PREPAID_BUSY", 2)
        : new CheckFailed("PREPAID_SPENT");
    this.spent += 1;
    this.#running.set(id, spend);
    return { id: `prepaid:${id}`, key, finish: this.#finish(id, spend, holder) };
  }

  /**
   * Checks and spends a token for a request of a metered route. It is never returned, and nothing opens the request again.
   * @param meteredOf what is stored with the token
   * @throws CheckFailed PREPAID_KEY, PREPAID_VALUE, PREPAID_CHALLENGE, PREPAID_SIGNATURE, PREPAID_SPENT, the errors of
   *   `meteredOf`; CheckUnavailable
   */
  async redeemMetered(
    token: ShownToken,
    { method, target, price }: TokenUse,
    meteredOf: (key: Key) => MeteredSpend,
  ): Promise<SpentForMeter> {
    const key = this.#check(token, price);
    const spend = { keyId: key.id, nonce: token.nonce, opens: `${method} ${target}`, metered: meteredOf(key) };
    const holder = await this.#spender.spend(token.header, spend);
    if (holder === undefined) throw new CheckFailed("PREPAID_SPENT");
    this.spent += 1;
    return { id: `prepaid:${spendId(spend)}`, key, keyId: key.id, nonce: token.nonce, holder };
  }

  /** The checks that need no signature. */
  #check(token: ShownToken, price: bigint): Key {
    const { keyring, challengeDigest, clock } = this.#parts;
    const key = keyring.find(token.keyId);
    if (key === undefined || !keyring.redeems(key, clock())) throw new CheckFailed("PREPAID_KEY");
    if (key.value !== price) throw new CheckFailed("PREPAID_VALUE");
    if (token.challengeDigest !== challengeDigest) throw new CheckFailed("PREPAID_CHALLENGE");
    return key;
  }

  async #spend(id: string, header: string, spend: Spend): Promise<string | undefined> {
    const asked = { opens: spend.opens, holder: this.#spender.spend(header, spend) };
    const all = this.#asked.get(id) ?? new Set();
    this.#asked.set(id, all.add(asked));
    try {
      return await asked.holder;
    } finally {
      all.delete(asked);
      if (all.size === 0) this.#asked.delete(id);
    }
  }

  /**
   * Whether another request that still waits spends the token. Batches end in any order, so the refusal of one request may be
   * known before the success of the other.
   */
  async #isBeingSpent(id: string, opens: string): Promise<boolean> {
    const others = [...(this.#asked.get(id) ?? [])].filter((asked) => asked.opens === opens);
    const holders = await Promise.all(others.map(({ holder }) => holder.catch(() => undefined)));
    return holders.some((holder) => holder !== undefined);
  }

  #finish(id: string, spend: Spend, holder: string): SpentToken["finish"] {
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
        // Once it is returned, another request may run with it before this one knows.
        if (this.#running.get(id) === spend) this.#running.delete(id);
      }
    };
  }

  /** Stores what requests of metered routes used, see `Spender.update`. */
  update(updates: readonly ChargeUpdate[]): Promise<readonly boolean[]> {
    return this.#spender.update(updates);
  }

  /** Stores claims and swaps in SQLite, see `Spender.commit`. */
  commit(order: CommitOrder): Promise<CommitAnswer> {
    return this.#spender.commit(order);
  }

  /** Resolves once every token that waits is spent or refused. */
  async end(): Promise<void> {
    await this.#spender.end();
  }
}
