// node scripts/generate/chains.ts [--check]: writes the table of properties in docs/chains.md from the tests of
// `deploy:network` and `check:deployment`.
import { CHAIN_PROPERTIES } from "@sotto/deploy/chain/properties";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { withPart } from "./document-part.ts";

export async function generateChainProperties(): Promise<GeneratedFile> {
  const rows = CHAIN_PROPERTIES.map(
    ({ name, why, test, consequence, isOptional }) =>
      `| ${name} | ${why} | ${test} | ${isOptional ? `a warning: ${consequence}` : consequence} |`,
  );
  const content = ["", "| property | why | test | without it |", "|---|---|---|---|", ...rows, ""].join("\n");
  return withPart("chains.md", "properties", "scripts/generate/chains.ts", content);
}

if (import.meta.main) await runGenerators(generateChainProperties);
