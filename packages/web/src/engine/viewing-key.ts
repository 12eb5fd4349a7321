import { type DeploymentManifest, parseViewingKeys, SottoError, type ViewingKeys } from "@sotto/protocol";
import { WebError } from "../errors.ts";

/** Viewing keys as `sotto view-key` writes them. @throws WebError VIEWING_KEY_INVALID */
export function openViewingKeys(text: string, pool: Pick<DeploymentManifest, "chainId" | "pool">): ViewingKeys {
  try {
    return parseViewingKeys(text, pool);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new WebError("VIEWING_KEY_INVALID", cause.message, {}, { cause });
  }
}
