// Writes the recorded figures (docs/figures.json) into the pages that show them: between `<!--NAME-->` and
// `<!---->` the figure, and between `<!--run of BENCH-->` and `<!---->` when and where the bench was run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";
import { type Figure, type Run, readFigures } from "./figures.ts";

const MARK = /<!--(run of )?([\w.]+)-->[^<]*<!---->/g;
/** Units that are counted, not measured. */
const COUNTED = new Set(["constraints", "gas", "bytes", "circuits"]);
/** Pages that show figures. */
const PAGES = [
  "README.md",
  "docs/performance.md",
  "docs/prepaid.md",
  "docs/metered.md",
  "docs/certificate.md",
  "packages/groth16/README.md",
];

/** A figure as text: counts are whole numbers, others have two digits, or three from 100 on. */
export function formatFigure({ value, unit }: Figure): string {
  const digits = value >= 100 ? 3 : 2;
  const shown = COUNTED.has(unit) ? Math.round(value) : Number(value.toPrecision(digits));
  return shown.toLocaleString("en", { maximumSignificantDigits: 21 });
}

/** @throws Error if a figure or a bench that the text names was not recorded */
export function withFigures(text: string, runs: Readonly<Record<string, Run>>): string {
  const figures = new Map(Object.values(runs).flatMap((run) => Object.entries(run.figures)));
  return text.replaceAll(MARK, (_, isRun: string | undefined, name: string) => {
    const [run, figure] = [runs[name], figures.get(name)];
    if (isRun !== undefined && run !== undefined) return `<!--run of ${name}-->${run.date}, ${run.machine}<!---->`;
    if (isRun !== undefined || figure === undefined)
      throw new Error(`a page names the figure ${name}, which was not recorded (npm run bench NAME -- --record)`);
    return `<!--${name}-->${formatFigure(figure)}<!---->`;
  });
}

const writing = (page: string) => async (): Promise<GeneratedFile> => {
  const path = join(root, page);
  return { path, content: withFigures(readFileSync(path, "utf8"), readFigures()) };
};

/** Write the figures of each page that shows some. */
export const FIGURE_PAGES = PAGES.map(writing);

if (import.meta.main) await runGenerators(...FIGURE_PAGES);
