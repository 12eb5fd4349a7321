// Exchanges several tokens for fewer of the same sum.
import { verify } from "node:crypto";
import type { PaywallCore } from "@sotto/resource-server";
import {
  changeEpochAt,
  isPrepaidValue,
  PREPAID_KEY_BYTES,
  PREPAID_TOKEN_LAYOUT,
  redeemsAt,
  type SwapRequest,
  swapHash,
  swapRecipes,
} from "../../index.ts";
import type { Key } from "../keyring.ts";
import type { Prepaid } from "../prepaid.ts";
import { refuse } from "../responses.ts";
import type { SwapRow } from "../schema.ts";
import { readToken, type ShownToken } from "../shown-token.ts";
import { unsignable } from "../signer.ts";
import { Repeats } from "./repeats.ts";

export interface SwapParts {
  readonly core: Pick<PaywallCore, "clock">;
  readonly prepaid: Prepaid;
  /** Called when a swap was signed. */
  readonly onSwapped: (key: Key, tokens: number) => void;
}

/** A token with its key. */
interface Spent {
  readonly shown: ShownToken;
  readonly key: Key;
}

export class Swaps {
  readonly #parts: SwapParts;
  readonly #repeats: Repeats;

  constructor(parts: SwapParts) {
    this.#parts = parts;
    this.#repeats = new Repeats(() => parts.core.clock());
  }

  /** @returns the signatures, one after the other @throws Refusal; CheckUnavailable; the errors of the store */
  async answer(request: SwapRequest): Promise<Uint8Array> {
    const { prepaid } = this.#parts;
    const { metered } = prepaid.store;
    const hash = swapHash(request);
    const before = await metered.swapped(hash);
    if (before !== undefined) return this.#again(hash, before);
    const spent = this.#spent(request);
    const keys = this.#keys(request, spent);
    assertSigned(spent);
    const tokens = spent.map(({ shown: { keyId, nonce } }) => ({ keyId, nonce }));
    // Before the work of signing. The transaction below decides.
    if (await metered.isSpent(tokens)) return this.#spentBefore(hash);
    const signatures = await prepaid.signer.sign(keys, request.batch);
    const swap = { hash, key_id: keys[0]!.id, count: keys.length, signatures, tokens };
    const made = await prepaid.commits.swap(swap);
    // Another server closed a key, and this one does not know it yet.
    if (made === "closed") return ended(request.epoch);
    if (made === "spent") return this.#spentBefore(hash);
    this.#parts.onSwapped(keys[0]!, keys.length);
    return signatures;
  }

  /** The same swap may have been stored since. */
  async #spentBefore(hash: string): Promise<Uint8Array> {
    const other = await this.#parts.prepaid.store.metered.swapped(hash);
    if (other !== undefined) return this.#again(hash, other);
    return refuse("METERED_SPENT", "one of the tokens was spent otherwise; nothing was spent now");
  }

  async #again(hash: string, { key_id, signatures }: Pick<SwapRow, "key_id" | "signatures">): Promise<Uint8Array> {
    // A store that was restored may contain a swap that must not leave the server.
    if (this.#parts.prepaid.keyring.isClosed(key_id)) refuse("METERED_ENDED", "the new tokens are no longer accepted");
    const seconds = this.#repeats.count(hash);
    if (seconds !== undefined)
      refuse("PREPAID_UNAVAILABLE", "this was answered several times; try again later", seconds);
    await this.#parts.prepaid.recordRead();
    return new Uint8Array(signatures);
  }

  /** The tokens with their keys, checked without their signatures. */
  #spent({ tokens }: SwapRequest): readonly Spent[] {
    const { core, prepaid } = this.#parts;
    const spent = tokens.map((header): Spent => {
      const shown = readToken(header);
      if (shown === undefined) return refuse("METERED_REQUEST_INVALID", "a token is malformed");
      const key = prepaid.keyring.find(shown.keyId);
      if (key === undefined || shown.challengeDigest !== prepaid.challengeDigest)
        return refuse("METERED_CLAIM_INVALID", "a token is not of this server");
      return { shown, key };
    });
    if (new Set(spent.map(({ key }) => key.epoch)).size > 1)
      refuse("METERED_REQUEST_INVALID", "the tokens of a swap must be of one month");
    if (!spent.every(({ key }) => prepaid.keyring.redeems(key, core.clock()))) ended(spent[0]!.key.epoch);
    return spent;
  }

  /** The keys of the new tokens, one for each message. */
  #keys({ epoch, batch }: SwapRequest, spent: readonly Spent[]): readonly Key[] {
    const { core, prepaid } = this.#parts;
    const now = core.clock();
    const { epoch: before } = spent[0]!.key;
    if (epoch !== before && epoch !== changeEpochAt(before, now))
      refuse("METERED_REQUEST_INVALID", `tokens of ${before} cannot be swapped for tokens of ${epoch} now`);
    const values = receivedFor(spent.map(({ key }) => key.value));
    if (values === undefined)
      refuse(
        "METERED_REQUEST_INVALID",
        "a swap must be 1+1 to 2, 1+2+2 to 5, 5+5 to 10 or 2+2+2+2+2 to 5+5, with its tokens in ascending order",
      );
    const keys = values!.map((value) => prepaid.keyring.at(value, epoch));
    if (!keys.every((key): key is Key => key?.privateKey !== undefined))
      return refuse("METERED_REQUEST_INVALID", `this server has no key of ${epoch} for ${values!.join(" and ")}`);
    if (!redeemsAt(epoch, now) || keys.some(({ id }) => prepaid.keyring.isClosed(id))) ended(epoch);
    if (batch.length !== keys.length * PREPAID_KEY_BYTES)
      refuse("METERED_REQUEST_INVALID", `the batch must have ${keys.length} messages`);
    const wrong = unsignable(batch, (message) => keys[message]!);
    if (wrong !== undefined) refuse("METERED_REQUEST_INVALID", `message ${wrong} is not below its key's modulus`);
    return keys;
  }
}

const ended = (epoch: string): never => refuse("METERED_ENDED", `tokens of ${epoch} are not accepted, or were closed`);

/** The values of the new tokens for spent ones, by one of the recipes; undefined if there is none. */
export function receivedFor(spent: readonly bigint[]): readonly bigint[] | undefined {
  const sum = spent.reduce((total, value) => total + value, 0n);
  const values = [...new Set([...spent, sum, sum / 2n])].filter((value) => value > 0n && isPrepaidValue(value));
  const recipe = swapRecipes(values).find(
    ({ spend }) => spend.length === spent.length && spend.every((value, i) => value === spent[i]),
  );
  return recipe?.receive;
}

/** Verifies the signatures of tokens, which a swap has at most five of. */
function assertSigned(spent: readonly Spent[]): void {
  const isSigned = ({ shown, key }: Spent) => {
    const bytes = Buffer.from(shown.header, "base64url");
    const { signature } = PREPAID_TOKEN_LAYOUT;
    return verify("sha384", bytes.subarray(0, signature), key.publicKey, bytes.subarray(signature));
  };
  if (!spent.every(isSigned)) refuse("METERED_CLAIM_INVALID", "a token is not signed by its key");
}
