/** Reads artifacts from a directory (Node) or a base URL (fetch). The bytes are not trusted: the caller checks the hash. */
import { readBody, SottoError } from "@sotto/protocol";
import { proverError } from "../errors.ts";

/** Timeout for one file, ms; the largest has 50 MB. */
const TIMEOUT_MS = 15 * 60_000;

export interface ArtifactSource {
  /** The full path or URL of a file, for error messages. */
  locate(path: string): string;
  /**
   * Returns at most `maxBytes` bytes.
   *
   * @throws SottoError ARTIFACT_MISSING, ARTIFACT_TOO_LARGE, ARTIFACT_UNREACHABLE
   */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
}

/** The part of Node that is used here, declared so that this package compiles without Node's types. */
interface WithNode {
  readonly process?: { getBuiltinModule?(name: "node:fs/promises"): FileSystem | undefined };
}

interface FileSystem {
  stat(path: string): Promise<{ size: number }>;
  readFile(path: string): Promise<Uint8Array>;
}

/** Node only: elsewhere the first read fails with `ARTIFACTS_SOURCE_INVALID`. */
export function directorySource(directory: string): ArtifactSource {
  const locate = (path: string): string => `${directory.replace(/[\\/]+$/, "")}/${path}`;
  return {
    locate,
    async read(path, maxBytes) {
      // Not an import, because bundlers for browsers would try to resolve it.
      const fs = (globalThis as WithNode).process?.getBuiltinModule?.("node:fs/promises");
      if (fs === undefined) {
        throw proverError("ARTIFACTS_SOURCE_INVALID", "Artifacts can be read from a directory under Node only.");
      }
      const file = locate(path);
      try {
        const { size } = await fs.stat(file);
        if (size > maxBytes) throw tooLarge(file, maxBytes, size);
        const bytes = await fs.readFile(file);
        return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      } catch (error) {
        if (error instanceof SottoError) throw error;
        const reason = (error as { code?: string }).code ?? "unknown";
        if (reason === "ENOENT" || reason === "ENOTDIR") throw missing(file, "no such file");
        throw proverError("ARTIFACT_UNREACHABLE", `Could not read artifact ${file}: ${reason}.`, { file, reason });
      }
    },
  };
}

/** @param fetcher for tests, proxies and runtimes without a global fetch */
export function urlSource(baseUrl: string, fetcher: typeof fetch = globalThis.fetch): ArtifactSource {
  let base: URL;
  try {
    base = new URL(baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`);
  } catch {
    throw proverError("ARTIFACTS_SOURCE_INVALID", "`baseUrl` must be an absolute http or https URL.");
  }
  if (base.protocol !== "https:" && base.protocol !== "http:") {
    throw proverError("ARTIFACTS_SOURCE_INVALID", `\`baseUrl\` must be http or https, found ${base.protocol}`);
  }
  const locate = (path: string): string => new URL(path, base).href;
  return {
    locate,
    async read(path, maxBytes) {
      const file = locate(path);
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      let response: Response;
      try {
        response = await fetcher(file, { signal });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw proverError("ARTIFACT_UNREACHABLE", `Could not fetch artifact ${file}: ${reason}.`, { file, reason });
      }
      if (response.status === 404 || response.status === 410) throw missing(file, `status ${response.status}`);
      if (!response.ok || response.body === null) {
        const reason = `status ${response.status}`;
        throw proverError("ARTIFACT_UNREACHABLE", `Could not fetch artifact ${file}: ${reason}.`, { file, reason });
      }
      return readCapped(response, file, maxBytes, signal);
    },
  };
}

async function readCapped(
  response: Response,
  file: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    return await readBody(response, maxBytes, signal);
  } catch (error) {
    if (error instanceof SottoError) throw tooLarge(file, maxBytes, maxBytes + 1);
    const reason = error instanceof Error ? error.message : String(error);
    throw proverError("ARTIFACT_UNREACHABLE", `Fetching artifact ${file} broke off: ${reason}.`, { file, reason });
  }
}

function missing(file: string, reason: string): SottoError {
  return proverError("ARTIFACT_MISSING", `Artifact ${file} is missing (${reason}).`, { file, reason });
}

function tooLarge(file: string, maxBytes: number, found: number): SottoError {
  const message = `Artifact ${file} is larger than the limit of ${maxBytes} bytes (at least ${found}).`;
  return proverError("ARTIFACT_TOO_LARGE", message, { file, maxBytes, found });
}
