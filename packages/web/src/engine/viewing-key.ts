import {
  BASE8,
  type DeploymentManifest,
  decodeShieldedAddress,
  multiplyPoint,
  trimPasted,
  type Viewer,
} from "@sotto/protocol";
import { WebError } from "../errors.ts";

export interface ViewingKey {
  readonly viewingKey: bigint;
  readonly shieldedAddress: string;
}

const MAX_CHARACTERS = 4096;

/**
 * A viewing key as `sotto export --viewing-key` writes it. No error repeats the text.
 * @throws WebError VIEWING_KEY_INVALID
 */
export function parseViewingKey(
  text: string,
  { chainId, pool }: Pick<DeploymentManifest, "chainId" | "pool">,
): ViewingKey {
  const invalid = (message: string) => new WebError("VIEWING_KEY_INVALID", message);
  let fields: Record<string, unknown> = {};
  try {
    if (text.length <= MAX_CHARACTERS) fields = Object(JSON.parse(trimPasted(text))) as Record<string, unknown>;
  } catch {
    // Not JSON: rejected below.
  }
  const { type, version, viewingKey, shieldedAddress } = fields;
  if (type !== "sotto-viewing-key" || version !== 1 || typeof shieldedAddress !== "string")
    throw invalid("the text is not a viewing key that sotto exported");
  if (typeof viewingKey !== "string" || !/^0x[0-9a-f]{64}$/.test(viewingKey))
    throw invalid("viewingKey must be 0x and 64 hexadecimal digits");
  if (fields["chainId"] !== String(chainId) || fields["pool"] !== pool)
    throw invalid(`the key is for another pool, expected ${pool} on chain ${chainId}`);
  return { viewingKey: BigInt(viewingKey), shieldedAddress };
}

/** @throws WebError VIEWING_KEY_INVALID: an invalid key would otherwise read nothing, without an error */
export function viewerOf({ viewingKey, shieldedAddress }: ViewingKey): Viewer {
  const invalid = (message: string, cause?: unknown) => new WebError("VIEWING_KEY_INVALID", message, {}, { cause });
  let address: ReturnType<typeof decodeShieldedAddress>;
  try {
    address = decodeShieldedAddress(shieldedAddress);
  } catch (cause) {
    throw invalid("its shielded address is malformed", cause);
  }
  const { x, y } = multiplyPoint(BASE8, viewingKey);
  const { encryptionKey, ownerTag } = address;
  if ((viewingKey & 1n) === 0n || x !== encryptionKey.x || y !== encryptionKey.y)
    throw invalid("the viewing key does not belong to its shielded address");
  return { viewingKey, ownerTag };
}
