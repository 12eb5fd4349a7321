import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { sha256File, toJson, writeIfChanged } from "../circuits/files.ts";
import { artifactPaths, buildFolder, circuitNames } from "../circuits/paths.ts";
import { DEVELOPMENT_SEED, DEVELOPMENT_WARNING } from "./keys/secrets.ts";

/** circuits/build/manifest.json: the set of the keys, and the SHA-256 of every file that an artifact server sends. */
export function writeManifest(): void {
  const circuits = circuitNames.map((name) => {
    const { r1cs, wasm, zkey, vkey } = artifactPaths(name);
    const files = [r1cs, wasm, zkey, vkey].filter(existsSync);
    return [name, Object.fromEntries(files.map((file) => [basename(file), sha256File(file)]))] as const;
  });
  const manifest = {
    set: "development",
    warning: DEVELOPMENT_WARNING,
    seed: DEVELOPMENT_SEED,
    circuits: Object.fromEntries(circuits),
  };
  writeIfChanged(join(buildFolder, "manifest.json"), toJson(manifest));
}
