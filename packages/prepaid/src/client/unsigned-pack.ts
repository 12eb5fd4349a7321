import type { PayingWallet } from "@sotto/client";
import {
  PREPAID_KEY_BYTES,
  type PrepaidKey,
  type PrepaidPack,
  type PrepaidPackVersion,
  type PrepaidToken,
  preparePrepaidPack,
} from "../index.ts";

/** Tokens between two pauses: some milliseconds of work. A whole pack would block other requests for half a second. */
const PART = 20;

/** Lets input and output continue. A timer of Node may expire again before that. */
const pause = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof globalThis.setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve);
  });

/** The unsigned tokens of a pack. */
export interface UnsignedPack {
  /** The blinded messages, 256 bytes each: the body of the purchase. */
  readonly request: Uint8Array;
  /**
   * Checks the server's signatures and removes the blinds.
   * @param response 256 bytes for each token
   * @throws SottoError INVALID_SIGNATURE if any signature is wrong: then do not use any token of the pack
   */
  finish(response: Uint8Array): Promise<readonly PrepaidToken[]>;
}

/** Which tokens a pack has. */
export interface PackTerms {
  /** Origin at which its tokens are spent. */
  readonly origin: string;
  /** Key of the merchant that signs its tokens. */
  readonly key: PrepaidKey;
  /** The label from which the wallet derives their secret. It is used for one pack. */
  readonly label: string;
  /** How many tokens. */
  readonly count: number;
  /** Index of the first one among those of the label. Default: 0. */
  readonly first?: number | undefined;
  /** How the nonces are derived. */
  readonly version: PrepaidPackVersion;
}

/**
 * The unsigned tokens of a pack. The same terms give the same tokens, also after the wallet was restored.
 * @throws SottoError INVALID_STRING, INVALID_INTEGER, INVALID_KEY
 */
export async function unsignedPack(
  wallet: Pick<PayingWallet, "derive">,
  { label, ...terms }: PackTerms,
): Promise<UnsignedPack> {
  return preparePack(await wallet.derive(label, 32), terms);
}

/** `preparePrepaidPack` with pauses, in which the program's event loop continues. @throws its errors */
export async function preparePack(
  secret: Uint8Array,
  { origin, key, count, first = 0, version }: Omit<PackTerms, "label">,
): Promise<UnsignedPack> {
  const parts: PrepaidPack[] = [];
  let made = 0;
  do {
    parts.push(preparePrepaidPack(secret, key, origin, Math.min(PART, count - made), first + made, version));
    made += PART;
    await pause();
  } while (made < count);
  const request = new Uint8Array(count * PREPAID_KEY_BYTES);
  for (const [i, part] of parts.entries()) request.set(part.request, i * PART * PREPAID_KEY_BYTES);
  return { request, finish: (response) => finishParts(parts, response) };
}

async function finishParts(parts: readonly PrepaidPack[], response: Uint8Array): Promise<readonly PrepaidToken[]> {
  const tokens: PrepaidToken[] = [];
  let offset = 0;
  for (const [i, part] of parts.entries()) {
    // The last part takes the rest, so that it rejects a response that is too long.
    const end = i === parts.length - 1 ? response.length : offset + part.request.length;
    tokens.push(...part.finish(response.subarray(offset, end)));
    offset = end;
    await pause();
  }
  return tokens;
}
