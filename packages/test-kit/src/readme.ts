import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Runs the JavaScript blocks of a README, each on its own.
 *
 * @param readme path of the README, in the package's folder
 * @param entries URL of the module for each name that the blocks import of the package itself
 * @returns what each block printed
 */
export async function runReadme(readme: string, entries: Readonly<Record<string, string>>): Promise<string[][]> {
  const blocks = [...readFileSync(readme, "utf8").matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]!);
  // Inside the package, so that the imports resolve.
  const folder = mkdtempSync(join(dirname(readme), "test", "readme-"));
  const printed: string[][] = [];
  const log = console.log;
  try {
    for (const [index, block] of blocks.entries()) {
      const lines: string[] = [];
      printed.push(lines);
      console.log = (text: string) => void lines.push(text);
      const file = join(folder, `${index}.mjs`);
      const code = Object.entries(entries).reduce(
        (text, [name, url]) => text.replaceAll(JSON.stringify(name), JSON.stringify(url)),
        block,
      );
      writeFileSync(file, code);
      await import(file);
    }
  } finally {
    console.log = log;
    rmSync(folder, { recursive: true });
  }
  return printed;
}
