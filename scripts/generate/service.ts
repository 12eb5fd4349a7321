// node scripts/generate/service.ts [--check]: what the documents say of the service that its sources know: the OpenAPI
// document, and the table of settings in docs/operations.md. It needs the built packages.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument, settingsTable } from "@sotto/verifier-service";
import { root } from "../circuits/paths.ts";
import { type GeneratedFile, runGenerators } from "./generated-file.ts";

export async function generateOpenApi(): Promise<GeneratedFile> {
  const content = `${JSON.stringify(await openApiDocument(), null, 2)}\n`;
  return { path: join(root, "docs", "openapi.json"), content };
}

const BEGIN = "<!-- settings: written by scripts/generate/service.ts -->\n";
const END = "\n<!-- end of settings -->";

export async function generateSettings(): Promise<GeneratedFile> {
  const path = join(root, "docs", "operations.md");
  const text = readFileSync(path, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin)
    throw new Error(`${path} has no place for the settings: ${BEGIN.trim()} .. ${END.trim()}`);
  const content = text.slice(0, begin + BEGIN.length) + settingsTable() + text.slice(end);
  return { path, content };
}

if (import.meta.main) await runGenerators(generateOpenApi, generateSettings);
