import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readBody } from "@sotto/protocol";
import {
  type ArtifactKind,
  type Artifacts,
  type ArtifactsLock,
  DEFAULT_MAX_BYTES,
  type LoadOptions,
  loadArtifacts,
  lockOf,
} from "@sotto/prover";
import type { Context } from "./command.ts";
import { CliError } from "./frame/errors.ts";
import type { Config } from "./home/config.ts";
import { writePrivate } from "./home/files.ts";
import type { Home } from "./home/home.ts";

/**
 * The circuits' artifacts: from the folder or address of the config, else from the service, kept in the home. Each file is
 * compared with the hash compiled into this program, wherever it comes from.
 */
export async function openArtifacts({ home, output, signal }: Context, config: Config): Promise<Artifacts> {
  const { artifacts, service, set } = config;
  if (artifacts !== undefined) {
    const source: LoadOptions = /^https?:/.test(artifacts) ? { baseUrl: artifacts } : { directory: artifacts };
    return loadArtifacts({ ...source, set });
  }
  if (service === undefined)
    throw new CliError("CONFIG_INVALID", "this wallet has neither artifacts nor a service to fetch them from");
  return loadArtifacts({
    baseUrl: "http://service.invalid/",
    set,
    fetch: servedByHash(service, lockOf(set), home, signal, (line) => output.progress(line)),
  });
}

/** Turns a path that ends with NAME/NAME.KIND into the service's address of that hash, and keeps the file. */
function servedByHash(
  service: string,
  lock: ArtifactsLock,
  home: Home,
  signal: AbortSignal,
  tell: (line: string) => void,
): typeof fetch {
  return async (input, init) => {
    const [circuit = "", file = ""] = new URL(String(input)).pathname.split("/").slice(-2);
    const kind = /\.(wasm|zkey|vkey)/.exec(file)?.[1] as ArtifactKind | undefined;
    const hash = kind && lock.circuits[circuit]?.[kind];
    if (kind === undefined || hash === undefined) return new Response(null, { status: 404 });
    const path = join(home.artifacts, `${hash}.${kind}`);
    if (existsSync(path)) return new Response(await readFile(path));
    tell(`fetching ${file} from the service`);
    const either = init?.signal ? AbortSignal.any([signal, init.signal]) : signal;
    const address = `${service.replace(/\/+$/, "")}/artifacts/${hash}`;
    const response = await fetch(address, { redirect: "error", signal: either });
    if (!response.ok || response.body === null) return response;
    const bytes = await readBody(response, DEFAULT_MAX_BYTES[kind], either);
    // Whoever asked compares once more; here only so that nothing wrong is kept.
    if (createHash("sha256").update(bytes).digest("hex") === hash) {
      mkdirSync(home.artifacts, { recursive: true, mode: 0o700 });
      writePrivate(path, bytes, true);
    }
    return new Response(bytes);
  };
}
