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
 * Opens the circuits' artifacts: in the folder or at the URL that the config names, else from the service, which the
 * wallet's folder caches. Every file must have the hash that is compiled into this program.
 */
export async function openArtifacts({ home, output, signal }: Context, config: Config): Promise<Artifacts> {
  const { artifacts, service, set } = config;
  if (artifacts !== undefined) {
    const source: LoadOptions = /^https?:/.test(artifacts) ? { baseUrl: artifacts } : { folder: artifacts };
    return loadArtifacts({ ...source, set });
  }
  if (service === undefined)
    throw new CliError(
      "CONFIG_INVALID",
      "this wallet has neither artifacts nor a service: set one with `sotto init --update --artifacts PLACE`",
    );
  return loadArtifacts({
    baseUrl: "http://service.invalid/",
    set,
    fetch: servedByHash(service, lockOf(set), home, signal, (line) => output.progress(line)),
  });
}

/** A fetch that maps a path ending in NAME/NAME.KIND to the service's URL of that hash, and caches the file. */
function servedByHash(
  service: string,
  lock: ArtifactsLock,
  home: Home,
  signal: AbortSignal,
  report: (line: string) => void,
): typeof fetch {
  return async (input, init) => {
    const [circuit = "", file = ""] = new URL(String(input)).pathname.split("/").slice(-2);
    const kind = /\.(wasm|zkey|vkey)/.exec(file)?.[1] as ArtifactKind | undefined;
    const hash = kind && lock.circuits[circuit]?.[kind];
    if (kind === undefined || hash === undefined) return new Response(null, { status: 404 });
    const path = join(home.artifacts, `${hash}.${kind}`);
    if (existsSync(path)) return new Response(await readFile(path));
    report(`fetching ${file} from the service`);
    const either = init?.signal ? AbortSignal.any([signal, init.signal]) : signal;
    const address = `${service.replace(/\/+$/, "")}/artifacts/${hash}`;
    const response = await fetch(address, { redirect: "error", signal: either });
    if (!response.ok || response.body === null) return response;
    const bytes = await readBody(response, DEFAULT_MAX_BYTES[kind], either);
    // The caller checks the hash as well; this check keeps a wrong file out of the cache.
    if (createHash("sha256").update(bytes).digest("hex") === hash) {
      mkdirSync(home.artifacts, { recursive: true, mode: 0o700 });
      writePrivate(path, bytes, true);
    }
    return new Response(bytes);
  };
}
