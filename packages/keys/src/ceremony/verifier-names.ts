import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { circuitNames, root } from "../circuits/paths.ts";
import { verifierPath } from "../verifiers/export.ts";

const CONTRACTS = join(root, "contracts");

/**
 * Checks that no other contract in the tree has the name of one of a set's verifiers, because tools identify contracts by
 * name. For example, the sets autumn-1 and autumn1 would both have an Autumn1PaymentVerifier.
 * @throws CommandError NAME_TAKEN
 */
export function assertUniqueVerifierNames(set: string, contracts = CONTRACTS): void {
  const own = circuitNames.flatMap((circuit) => verifierPath(circuit, set) ?? []);
  const files = own.map((path) => relative(CONTRACTS, path));
  const names = own.map((path) => basename(path, ".sol").toLowerCase());
  for (const file of readdirSync(contracts, { encoding: "utf8", recursive: true })) {
    if (!file.endsWith(".sol") || files.includes(file)) continue;
    const source = readFileSync(join(contracts, file), "utf8");
    for (const [, name = ""] of source.matchAll(/^(?:abstract )?(?:contract|interface|library) (\w+)/gm))
      if (names.includes(name.toLowerCase()))
        throw new CommandError(
          "NAME_TAKEN",
          `contracts/${file} already has a contract ${name}; choose another name for ${set}`,
        );
  }
}
