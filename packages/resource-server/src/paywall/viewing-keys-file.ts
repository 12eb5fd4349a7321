// The file with the viewing keys of a server, which somebody replaces once a month.
import { readFileSync } from "node:fs";
import { parseViewingKeys, type ViewingKeys } from "@sotto/protocol";

/**
 * Reads viewing keys from a file for `recipient.viewingKeys`. The file is parsed again only after it changed, so that new keys need
 * no new start. Without a file there are no keys. A broken file throws once; then the keys of before stay.
 * @param path written by `sotto view-key`
 * @param deployment the pool that the keys must be for
 */
export function viewingKeysFile(
  path: string,
  deployment: Parameters<typeof parseViewingKeys>[1],
): () => ViewingKeys | undefined {
  let last: string | undefined;
  let keys: ViewingKeys | undefined;
  return () => {
    const text = readIfThere(path);
    if (text === last) return keys;
    last = text;
    keys = text === undefined ? undefined : parseViewingKeys(text, deployment);
    return keys;
  };
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}
