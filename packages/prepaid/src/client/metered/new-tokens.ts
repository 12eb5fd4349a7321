import { hashText, type PayingWallet } from "@sotto/client";
import { concatBytes } from "@sotto/protocol/extend";
import { sha256 } from "ethers";
import { PREPAID_KEY_BYTES, type PrepaidToken } from "../../index.ts";
import { packOf } from "../book.ts";
import type { ChangeSource, PackRecord } from "../records.ts";
import type { MerchantKey } from "../schedules.ts";
import { type UnsignedPack, unsignedPack } from "../unsigned-pack.ts";

/** Bytes of the random part of a label. */
const RANDOM_BYTES = 16;

/** A label that is used for one claim or swap: no other tokens have its secret. */
export function newLabel(): { readonly id: string; readonly label: string } {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  const id = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, label: `prepaid/change/${id}` };
}

/** A pack of change with its verified blind signatures and its tokens. */
export interface SignedPack {
  readonly record: PackRecord;
  readonly signatures: Uint8Array;
  readonly tokens: readonly PrepaidToken[];
}

/** Tokens that a merchant signs as change or in a swap. */
export interface NewTokens {
  /** The blinded messages. */
  readonly batch: Uint8Array;
  /**
   * Verifies the signatures of the batch.
   * @throws SottoError INVALID_SIGNATURE
   */
  finish(signatures: Uint8Array, now: number): Promise<readonly SignedPack[]>;
}

/**
 * Prepares new tokens. Each token has a secret of its own, from the label and its index.
 * @param keys of the tokens, in their order; equal ones are adjacent
 */
export async function prepareTokens(
  wallet: Pick<PayingWallet, "derive">,
  keys: readonly MerchantKey[],
  { label, cap }: Omit<ChangeSource, "first">,
): Promise<NewTokens> {
  const parts: { readonly key: MerchantKey; readonly first: number; readonly pack: UnsignedPack; count: number }[] = [];
  for (let first = 0; first < keys.length; ) {
    const key = keys[first]!;
    const other = keys.findIndex((each, i) => i > first && each.key.id !== key.key.id);
    const count = (other < 0 ? keys.length : other) - first;
    const pack = await unsignedPack(wallet, { origin: key.origin, key: key.key, label, first, count, version: 2 });
    parts.push({ key, first, pack, count });
    first += count;
  }
  return {
    batch: concatBytes(...parts.map(({ pack }) => pack.request)),
    finish: async (signatures, now) => {
      const signed: SignedPack[] = [];
      for (const [i, { key, first, pack, count }] of parts.entries()) {
        const from = first * PREPAID_KEY_BYTES;
        // The last part takes the rest, so that it rejects an answer that is too long.
        const own = signatures.slice(from, i === parts.length - 1 ? undefined : from + count * PREPAID_KEY_BYTES);
        const tokens = await pack.finish(own);
        const record = packOf(key, {
          id: hashText(`${label} ${first}`),
          version: 2,
          number: 0,
          count,
          batch: sha256(pack.request),
          created: now,
          state: "ready",
          change: { label, cap, first },
        });
        signed.push({ record, signatures: own, tokens });
      }
      return signed;
    },
  };
}
