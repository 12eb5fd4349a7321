import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const lockPath = join(import.meta.dirname, "..", "..", "circuits", "artifacts.lock.json");

/**
 * Whether the verifiers of this tree may be deployed on local chains only. Anything but a lock that says `ceremony` counts
 * as development: a missing or damaged one must not open the way.
 */
export function areDevelopmentKeys(path: string = lockPath): boolean {
  if (!existsSync(path)) return true;
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as { set?: unknown }).set !== "ceremony";
  } catch {
    return true;
  }
}
