import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "@sotto/command/command";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..");
export const circuitsFolder = join(root, "circuits");
export const buildFolder = join(circuitsFolder, "build");

/** The circuits, in the order of every table. Each has a main in circuits/NAME.circom. */
export const circuitNames = ["payment", "elgamal_range", "withdrawal", "note_append", "origin"] as const;
export type CircuitName = (typeof circuitNames)[number];

/** Paths of all files built for one circuit; `folder` need not exist yet. */
export function artifactPaths(name: string, folder = join(buildFolder, name)) {
  const file = (extension: string) => join(folder, `${name}.${extension}`);
  return {
    folder,
    r1cs: file("r1cs"),
    wasm: file("wasm"),
    sym: file("sym"),
    zkey: file("zkey"),
    compactKey: file("czkey"),
    vkey: file("vkey.json"),
    trapdoor: file("trapdoor.json"),
  };
}

/** Parses circuit names from a command line; no names mean all circuits. @throws CommandError CIRCUIT_UNKNOWN */
export function parseCircuitNames(names: string[]): CircuitName[] {
  if (names.length === 0) return [...circuitNames];
  return names.map((name) => {
    const known = circuitNames.find((candidate) => candidate === name);
    if (known === undefined)
      throw new CommandError(
        "CIRCUIT_UNKNOWN",
        `unknown circuit "${name}", expected one of: ${circuitNames.join(", ")}`,
      );
    return known;
  });
}

/**
 * The library folder for circom's option -l, so that a source can `include "circomlib/circuits/poseidon.circom"`. It is the
 * real path, because the compiler is sandboxed WASM that follows no symlinks, and pnpm's node_modules/circomlib is one.
 */
export function circomLibraryFolder(): string {
  return dirname(realpathSync(join(root, "node_modules", "circomlib")));
}

/** The exact version of an installed package, from its package.json. @throws CommandError PACKAGE_DAMAGED */
export function packageVersion(name: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"));
  if (typeof manifest !== "object" || manifest === null || !("version" in manifest))
    throw new CommandError("PACKAGE_DAMAGED", `node_modules/${name}/package.json has no version: reinstall`);
  return String(manifest.version);
}
