// node scripts/generate/curator.ts [--check]: writes the table of the curator's settings in docs/origins.md from its sources. It
// needs the built packages.
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { CURATOR_SETTINGS } from "@sotto/origins/curator";
import { settingsTable } from "@sotto/server";
import { withPart } from "./document-part.ts";

export const generateCuratorSettings = async (): Promise<GeneratedFile> =>
  withPart("origins.md", "settings", "scripts/generate/curator.ts", settingsTable(CURATOR_SETTINGS));

if (import.meta.main) await runGenerators(generateCuratorSettings);
