/**
 * What a chain of the OP stack charges for the data of a transaction, by its own formula since the Fjord upgrade:
 * https://specs.optimism.io/protocol/fjord/exec-engine.html#fjord-l1-cost-fee-changes-fastlz-estimator
 */

/** Constants of the formula, scaled by 10^6. */
const INTERCEPT = -42_585_600n;
const FASTLZ_COEFFICIENT = 836_500n;
const MIN_SIZE = 100_000_000n;

/** What the formula takes from the chain. */
export interface L1Prices {
  /** Base fee of the L1 chain and price of its blobs, wei. */
  readonly baseFee: bigint;
  readonly blobBaseFee: bigint;
  /** The L2 chain's scalars, scaled by 10^6. */
  readonly baseFeeScalar: bigint;
  readonly blobBaseFeeScalar: bigint;
}

const WINDOW = 0x1fff;
const MAX_RUN = 32;
const MAX_MATCH = 262;
/** FastLZ ends its search for matches that many bytes before the end. */
const TAIL = 13;

/** Number of bytes that FastLZ (level 1) compresses the data to, as op-geth's FlzCompressLen counts them. */
export function fastLzSize(data: Uint8Array): number {
  let size = 0;
  const lastSeen = new Uint32Array(WINDOW + 1);
  const limit = Math.max(0, data.length - TAIL);
  const three = (at: number) => data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16);
  const slot = (value: number) => (Math.imul(2_654_435_769, value) >>> 19) & WINDOW;
  const literals = (count: number) => {
    const rest = count % MAX_RUN;
    size += (MAX_RUN + 1) * Math.floor(count / MAX_RUN) + (rest === 0 ? 0 : rest + 1);
  };
  /** Remembers the position for later matches. @returns the position before this one with the same hash */
  const visit = (at: number): number => {
    const hash = slot(three(at));
    const earlier = lastSeen[hash]!;
    lastSeen[hash] = at;
    return earlier;
  };
  let written = 0;
  let at = 2;
  while (at < limit) {
    const earlier = visit(at);
    if (at - earlier > WINDOW || three(at) !== three(earlier)) {
      at += 1;
      continue;
    }
    if (at > written) literals(at - written);
    // The count includes the byte that ends the match, as in the reference.
    const most = limit + 9 - (at + 3);
    let length = 0;
    while (length < most && data[earlier + 3 + length] === data[at + 3 + length]) length += 1;
    if (length < most) length += 1;
    const rest = length - 1;
    size += 3 * Math.floor(rest / MAX_MATCH) + (rest % MAX_MATCH >= 6 ? 3 : 2);
    at += length;
    visit(at);
    visit(at + 1);
    at += 2;
    written = at;
  }
  literals(data.length - written);
  return size;
}

/**
 * Estimated size of a transaction in a compressed batch, bytes times 10^6.
 * @param transaction the signed transaction, RLP-encoded
 */
export function estimatedSizeScaled(transaction: Uint8Array): bigint {
  const size = INTERCEPT + FASTLZ_COEFFICIENT * BigInt(fastLzSize(transaction));
  return size > MIN_SIZE ? size : MIN_SIZE;
}

/** The L1 data fee of a signed transaction, wei. */
export function l1Fee(transaction: Uint8Array, prices: L1Prices): bigint {
  const { baseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar } = prices;
  const scaled = baseFeeScalar * baseFee * 16n + blobBaseFeeScalar * blobBaseFee;
  return (estimatedSizeScaled(transaction) * scaled) / 10n ** 12n;
}
