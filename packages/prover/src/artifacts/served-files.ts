/** A service's list of files: their sizes, used for progress and to detect a connection that was closed early, and compact keys. */
import { readBody } from "@sotto/protocol/base";

/** Maximum size of the response, bytes; it usually has 10,000. */
const MAX_RESPONSE_BYTES = 1 << 18;
const TIMEOUT_MS = 30_000;

/** A service's information about its files. None of it is trusted: each file's hash is compared with the lock. */
export interface ServedFiles {
  /** Name of the service's set of keys. */
  readonly set: string;
  /** Bytes, by SHA-256. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The compact forms of proving keys, by the key's SHA-256. */
  readonly compactKeys: ReadonlyMap<string, { readonly sha256: string; readonly size: number }>;
}

/**
 * @returns undefined if the service does not answer or its answer does not match docs/api.md; the download of a file
 * then reports the reason
 */
export async function readServedFiles(
  service: string,
  send: typeof fetch,
  signal: AbortSignal | undefined,
): Promise<ServedFiles | undefined> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    const response = await send(`${service}/circuits`, { redirect: "error", credentials: "omit", signal: either });
    if (!response.ok) return undefined;
    const bytes = await readBody(response, MAX_RESPONSE_BYTES, either);
    return parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

const isHash = (value: unknown): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
const fieldsOf = (value: unknown): Record<string, unknown> => Object(value) as Record<string, unknown>;

function parse(json: unknown): ServedFiles | undefined {
  const { artifactSet, circuits } = fieldsOf(json);
  const set = fieldsOf(artifactSet)["name"];
  if (typeof set !== "string" || !/^[a-z0-9/-]{1,129}$/.test(set)) return undefined;
  const sizes = new Map<string, number>();
  const compactKeys = new Map<string, { readonly sha256: string; readonly size: number }>();
  for (const circuit of Object.values(fieldsOf(circuits))) {
    const files = fieldsOf(fieldsOf(circuit)["files"]);
    for (const file of Object.values(files)) {
      const { sha256, size } = fieldsOf(file);
      if (isHash(sha256) && Number.isSafeInteger(size) && (size as number) >= 0) sizes.set(sha256, size as number);
    }
    const [key, compact] = ["zkey", "czkey"].map((kind) => fieldsOf(files[kind])["sha256"]);
    const size = isHash(compact) ? sizes.get(compact) : undefined;
    if (isHash(key) && isHash(compact) && size !== undefined) compactKeys.set(key, { sha256: compact, size });
  }
  return { set, sizes, compactKeys };
}
