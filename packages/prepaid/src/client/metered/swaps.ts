import type { PayingCore, PayingWallet } from "@sotto/client";
import { message, SottoError } from "@sotto/protocol";
import type { StoreChange } from "@sotto/wallet";
import { MAX_SWAP_SPENDS } from "../../core/metered/wire.ts";
import {
  encodePrepaidHeader,
  formatSwapRequest,
  isPrepaidValue,
  MAX_METERED_BODY_BYTES,
  nextSwap,
  PREPAID_SWAP_PATH,
  parseSwapAnswer,
  redeemsAt,
  type SwapRecipe,
} from "../../index.ts";
import { ask } from "../ask.ts";
import { type PrepaidBook, type TakenToken, termsOfPack } from "../book.ts";
import { PrepaidError } from "../errors.ts";
import type { HeldChange } from "../held-change.ts";
import type { PrepaidSettings } from "../options.ts";
import type { SwapRecord } from "../records.ts";
import { unsignedPack } from "../unsigned-pack.ts";
import { unsignedOf } from "./answers.ts";
import type { ChangeKeys } from "./change-keys.ts";
import { changeMonths, mayHaveEnded } from "./months.ts";
import { newLabel, prepareTokens, type SignedPack } from "./new-tokens.ts";

const TIMEOUT_MS = 30_000;

/** How a swap ended; pending: it can be repeated. */
export type Swapped =
  | {
      /** The new tokens are stored, or there is nothing to swap. */
      readonly kind: "done" | "none";
    }
  | {
      /** The merchant refused it, or did not answer. */
      readonly kind: "lost" | "pending";
      readonly error: PrepaidError;
    };

export interface SwapOptions {
  readonly signal?: AbortSignal | undefined;
  /** At most one swap runs in each lane: a merchant can withhold the tokens of all that run. Default: 0. */
  readonly lane?: number | undefined;
}

/** The change that is swapped, and how. */
interface Next {
  readonly group: Pick<HeldChange, "epoch" | "cap">;
  readonly recipe: SwapRecipe;
  readonly wallet: string;
}

/** Exchanges small tokens of change for fewer large ones. */
export class Swaps {
  readonly #wallet: PayingWallet;
  readonly #book: PrepaidBook;
  readonly #keys: ChangeKeys;
  readonly #settings: PrepaidSettings;

  constructor(core: PayingCore, book: PrepaidBook, keys: ChangeKeys, settings: PrepaidSettings) {
    this.#wallet = core.wallet;
    this.#book = book;
    this.#keys = keys;
    this.#settings = settings;
  }

  /** Whether change at an origin can be swapped, or a swap there has not ended. */
  isUseful(origin: string): boolean {
    return this.#book.metered.swaps(origin).length > 0 || this.#next(origin) !== undefined;
  }

  /**
   * Resumes a swap at an origin, or makes the next one. Swaps of one lane at an origin run one after another.
   * @throws the errors of the store
   */
  swap(origin: string, { signal, lane = 0 }: SwapOptions = {}): Promise<Swapped> {
    return this.#book.exclusively(`swap ${lane} ${origin}`, () => this.#resumeOrBegin(origin, signal), signal);
  }

  /** The swap that saves the most tokens, with its group. */
  #next(origin: string): Next | undefined {
    if (this.#book.origin(origin).stopped !== null) return undefined;
    const now = this.#wallet.now();
    for (const { epoch, cap, wallet, counts } of this.#book.changeAt(origin)) {
      if (!redeemsAt(epoch, now)) continue;
      const held = [...counts].flatMap(([value, count]) =>
        new Array<bigint>(Math.min(count, MAX_SWAP_SPENDS)).fill(BigInt(value)),
      );
      const values = this.#book
        .keys(origin)
        .filter((key) => key.wallet === wallet && key.epoch === epoch && key.value <= BigInt(cap))
        .map(({ value }) => value)
        .filter(isPrepaidValue);
      const recipe = nextSwap([...new Set(values)], held);
      if (recipe !== undefined) return { group: { epoch, cap }, recipe, wallet };
    }
    return undefined;
  }

  /** Journals the next swap with its tokens. */
  async #begin(origin: string, signal: AbortSignal | undefined): Promise<SwapRecord | undefined> {
    const nextAndName = () => {
      const next = this.#next(origin);
      return (
        next && { ...next, name: `${next.group.epoch} ${next.group.cap} ${next.wallet} ${next.recipe.spend.join()}` }
      );
    };
    let next = nextAndName();
    for (let name = ""; next !== undefined && next.name !== name; next = nextAndName()) {
      name = next.name;
      // Tokens whose swap is journaled are taken, so its keys are known and compared before.
      const { wallet, group, recipe } = next;
      await this.#keys.of({ origin, wallet, epoch: this.#epochOf(group), values: recipe.receive }, signal);
    }
    if (next === undefined) return undefined;
    const { group, recipe, wallet } = next;
    const { id, label } = newLabel();
    // Taken without a pause, so that no request takes one of them in between.
    const taken = recipe.spend.map((value) =>
      this.#book.takeNext({ origin, value, wallet, change: group }, this.#wallet.now()),
    ) as TakenToken[];
    const record: SwapRecord = {
      id,
      origin,
      wallet,
      label,
      epoch: this.#epochOf(group),
      spend: taken.map(({ pack, index }) => ({ pack: pack.id, index })),
      receive: recipe.receive.map(String),
      cap: group.cap,
    };
    this.#book.metered.beginSwap(record);
    try {
      await this.#journal(record);
      return record;
    } catch (error) {
      this.#book.metered.releaseSwap(record);
      throw error;
    }
  }

  #journal(swap: SwapRecord): Promise<void> {
    const packs = swap.spend.map(({ pack }) => pack);
    return this.#book.metered.journalSwap(swap, () => this.#book.takenOf(packs));
  }

  /** The server always swaps within a month; into the next only near the end, by its own clock. */
  #epochOf({ epoch }: Next["group"]): string {
    return changeMonths(epoch, this.#wallet.now())[0];
  }

  async #resumeOrBegin(origin: string, signal: AbortSignal | undefined): Promise<Swapped> {
    try {
      const { metered } = this.#book;
      const open = metered.resumeSwap(origin) ?? (await this.#begin(origin, signal));
      if (open === undefined) return { kind: "none" };
      try {
        await this.#journal(open);
        return await this.#send(open, signal);
      } finally {
        metered.releaseSwap(open);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof PrepaidError) return { kind: "pending", error };
      throw error;
    }
  }

  async #send(record: SwapRecord, signal: AbortSignal | undefined): Promise<Swapped> {
    const { origin, wallet, label, epoch, cap } = record;
    const values = record.receive.map(BigInt);
    const keys = await this.#keys.of({ origin, wallet, epoch, values }, signal);
    const tokens = await prepareTokens(this.#wallet, keys, { label, cap });
    if (this.#isForgotten(record)) return { kind: "none" };
    const spent = await this.#headersOf(record);
    const name = `${origin}${PREPAID_SWAP_PATH}`;
    const headers = { "content-type": "application/json" };
    const body = formatSwapRequest({ epoch, tokens: spent, batch: tokens.batch });
    const limits = { name, maxBytes: MAX_METERED_BODY_BYTES, timeoutMs: TIMEOUT_MS, signal };
    const answer = await ask(this.#settings.send, name, { method: "POST", headers, body }, limits);
    const now = this.#wallet.now();
    if (this.#isForgotten(record)) return { kind: "none" };
    if (answer.status !== 200) {
      const { kind, said, reason } = unsignedOf(answer);
      // If their month has not ended, the merchant withholds them.
      if (kind === "ended" && mayHaveEnded(this.#epochOfSpent(record), now))
        return this.#lose(record, "their key has ended", false);
      if (kind === "other" || kind === "refused") return this.#lose(record, reason, true);
      const text = message`${origin} cannot swap tokens now: ${said}`;
      return { kind: "pending", error: new PrepaidError("PREPAID_CHANGE_PENDING", text, { origin, reason }) };
    }
    let signed: readonly SignedPack[];
    try {
      signed = await tokens.finish(parseSwapAnswer(new TextDecoder().decode(answer.body)), now);
    } catch (cause) {
      if (!(cause instanceof SottoError)) throw cause;
      if (cause.code === "INVALID_SIGNATURE") return this.#lose(record, "its signature is wrong", true);
      const text = message`${origin} answers to a swap with invalid tokens: ${cause}`;
      throw new PrepaidError("PREPAID_CHANGE_PENDING", text, { origin }, { cause });
    }
    await this.#end(record, signed);
    return { kind: "done" };
  }

  /** Whether its tokens were dropped meanwhile, or their month ended. */
  #isForgotten({ id }: SwapRecord): boolean {
    return this.#book.metered.swap(id) === undefined;
  }

  #end(record: SwapRecord, signed: readonly SignedPack[], others: readonly StoreChange[] = []): Promise<void> {
    const { metered } = this.#book;
    return metered.endSwap(record, (changes) =>
      this.#book.putChange(signed, [...changes, ...others], metered.inUse(record.id)),
    );
  }

  /** The month of the tokens that a swap spends. */
  #epochOfSpent({ spend: [first] }: SwapRecord): string {
    return this.#book.pack(first!.pack)!.epoch;
  }

  /** The tokens of a swap as they are sent. */
  async #headersOf({ spend }: SwapRecord): Promise<readonly string[]> {
    const headers: string[] = [];
    for (const { pack: id, index } of spend) {
      const pack = this.#book.pack(id)!;
      const tokens = await this.#book.tokens(pack, () => unsignedPack(this.#wallet, termsOfPack(pack)));
      headers.push(encodePrepaidHeader(tokens[index]!));
    }
    return headers;
  }

  /** Gives up a swap's tokens. @param isRefused whether the merchant keeps them: then tokens stop at its origin */
  async #lose(record: SwapRecord, why: string, isRefused: boolean): Promise<Swapped> {
    const { origin } = record;
    const text = `${origin} keeps the tokens of a swap: ${why}`;
    if (!isRefused) {
      await this.#end(record, []);
      return { kind: "lost", error: new PrepaidError("PREPAID_CHANGE_REFUSED", text, { origin }) };
    }
    const stop = { code: "PREPAID_CHANGE_REFUSED", message: text } as const;
    const end = (changes: readonly StoreChange[]) => this.#end(record, [], changes);
    return { kind: "lost", error: await this.#book.stop(origin, stop, this.#wallet.now(), end) };
  }
}
