// node scripts/generate/certify-picture.ts [--check]: draws the refuted circuit of @sotto/certify's README, and what the program says of
// it. A test of the package compares the texts in the README with the program's output.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { type GeneratedFile, runGenerators } from "@sotto/keys/generate/generated-file";

const folder = join(root, "packages", "certify");
/** Characters in a line of the picture, and sizes in pixels. */
const [COLUMNS, CHARACTER, LINE, MARGIN] = [92, 8.4, 20, 20];
const COLORS = { background: "#161b22", text: "#c9d1d9", faint: "#8b949e", wrong: "#ff7b72", fix: "#7ee787" } as const;

interface Line {
  readonly text: string;
  readonly color: string;
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The line in pieces of at most COLUMNS characters, broken at spaces; all but the first are indented. */
function wrap(text: string): string[] {
  if (text.length <= COLUMNS) return [text];
  const at = text.lastIndexOf(" ", COLUMNS);
  return [text.slice(0, at), ...wrap(`      ${text.slice(at + 1)}`)];
}

/** The circuit without the lines about `inverse`, with line numbers, as the README's test writes it to a file. */
function source(template: string, wrong: readonly number[]): Line[] {
  const lines = template.split("\n").filter((line) => line !== "" && !line.includes("inverse"));
  return ["pragma circom 2.0.0;", ...lines].map((text, index) => ({
    text: `${String(index + 1).padStart(2)}  ${text}`,
    color: wrong.includes(index + 1) ? COLORS.wrong : COLORS.text,
  }));
}

function terminal(output: string): Line[] {
  const colorOf = (line: string): string => {
    if (/refuted|in witness/.test(line)) return COLORS.wrong;
    return /^\s+fix:/.test(line) ? COLORS.fix : COLORS.text;
  };
  const lines = output.trimEnd().split("\n");
  const printed = lines.flatMap((line) => wrap(line).map((text) => ({ text, color: colorOf(line) })));
  return [{ text: "$ npx certify division.circom", color: COLORS.faint }, ...printed];
}

function draw(lines: readonly Line[], title: string): string {
  const [width, height] = [Math.round(COLUMNS * CHARACTER + 2 * MARGIN), lines.length * LINE + 2 * MARGIN];
  const texts = lines.map(
    ({ text, color }, index) =>
      `  <text x="${MARGIN}" y="${MARGIN + LINE * (index + 0.75)}" fill="${color}" xml:space="preserve">${escaped(text)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" font-family="monospace" font-size="14">
  <title>${title}</title>
  <rect width="${width}" height="${height}" rx="8" fill="${COLORS.background}"/>
${texts.join("\n")}
</svg>
`;
}

/** @throws Error if the README no longer has such blocks */
export async function generateCertifyPicture(): Promise<GeneratedFile> {
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, text]) => text as string);
  const template = blocks.find((text) => text.startsWith("template Division"));
  const output = blocks.find((text) => text.includes(": refuted:"));
  if (template === undefined || output === undefined) throw new Error("the README of certify shows no refuted circuit");
  const wrong = [...output.matchAll(/division\.circom:(\d+)/g)].map(([, line]) => Number(line));
  const lines = [...source(template, wrong), { text: "", color: COLORS.text }, ...terminal(output)];
  const content = draw(lines, "A division without a check that the divisor is not 0, and two witnesses for it");
  return { path: join(folder, "refuted.svg"), content };
}

if (import.meta.main) await runGenerators(generateCertifyPicture);
