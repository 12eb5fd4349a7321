import type { SottoError } from "@sotto/protocol/base";
import { proverError } from "../errors.ts";
import type { ArtifactCache } from "./cache.ts";
import { codeOf } from "./node-files.ts";

/** A cache that may be missing, full or read-only: the download works without it. */
export class Failsafe {
  #cache: ArtifactCache | undefined;
  readonly #onError: ((error: SottoError) => void) | undefined;

  constructor(cache: ArtifactCache | undefined, onError: ((error: SottoError) => void) | undefined) {
    this.#cache = cache;
    this.#onError = onError;
  }

  /** Uses the cache. After its first failure, the cache is no longer used for this file. */
  async use<T>(action: (cache: ArtifactCache) => Promise<T>): Promise<T | undefined> {
    const cache = this.#cache;
    if (cache === undefined) return undefined;
    try {
      return await action(cache);
    } catch (cause) {
      this.#cache = undefined;
      const { location } = cache;
      const reason = codeOf(cause) === "unknown" ? String(Object(cause).name ?? "unknown") : codeOf(cause);
      const text = cause instanceof Error ? cause.message : "";
      const why = text.startsWith(reason) ? text : `${reason}: ${text}`;
      const message = `The artifacts' cache ${location} cannot be used (${why}); the download is not kept.`;
      this.#onError?.(proverError("ARTIFACT_CACHE_FAILED", message, { location, reason }, cause));
      return undefined;
    }
  }
}
