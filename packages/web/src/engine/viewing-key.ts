import {
  type DeploymentManifest,
  parseViewingKey,
  SottoError,
  type Viewer,
  type ViewingKey,
  viewerOf,
} from "@sotto/protocol";
import { WebError } from "../errors.ts";

function translated<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new WebError("VIEWING_KEY_INVALID", cause.message, {}, { cause });
  }
}

/** A viewing key as `sotto export --viewing-key` writes it. @throws WebError VIEWING_KEY_INVALID */
export function openViewingKey(text: string, pool: Pick<DeploymentManifest, "chainId" | "pool">): ViewingKey {
  return translated(() => parseViewingKey(text, pool));
}

/** @throws WebError VIEWING_KEY_INVALID: an invalid key would otherwise read nothing, without an error */
export function openViewer(key: ViewingKey): Viewer {
  return translated(() => viewerOf(key));
}
