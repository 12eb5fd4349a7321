import { FetchError } from "@sotto/client";
import { hexToBytes, type Offers, SottoError } from "@sotto/protocol";

/**
 * The id of the key whose tokens pay for a request, hex with 0x; undefined if the 402 offers none.
 * @param price a token pays for exactly one request, whose price is its value
 * @throws FetchError CHALLENGE_INVALID
 */
export function offeredKey(offers: Offers, price: bigint): string | undefined {
  if (!offers.has("prepaid")) return undefined;
  const { tokenKeyId, value } = Object(offers.get("prepaid")) as Record<string, unknown>;
  const invalid = (why: string, cause?: unknown) =>
    new FetchError("CHALLENGE_INVALID", `the 402 cannot be paid: its offer of prepaid tokens: ${why}`, {}, { cause });
  if (value !== String(price)) throw invalid("value must be the price in base units");
  try {
    hexToBytes(tokenKeyId, 32, "tokenKeyId");
    return tokenKeyId as string;
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw invalid(cause.message, cause);
  }
}
