// node scripts/generate/service.ts [--check]: writes the service's OpenAPI document and the table of settings in
// docs/operations.md from its sources. It needs the built packages.
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { EXTENSIONS } from "@sotto/service";
import { openApiDocument, settingsTable } from "@sotto/verifier-service";
import { withPart } from "./document-part.ts";

export async function generateOpenApi(): Promise<GeneratedFile> {
  const content = `${JSON.stringify(await openApiDocument(EXTENSIONS), null, 2)}\n`;
  return { path: join(root, "docs", "openapi.json"), content };
}

export const generateSettings = async (): Promise<GeneratedFile> =>
  withPart("operations.md", "settings", "scripts/generate/service.ts", settingsTable(EXTENSIONS));

if (import.meta.main) await runGenerators(generateOpenApi, generateSettings);
