/**
 * The section of a Markdown document under this heading of level 2, with the heading.
 * @throws Error if there is none
 */
export function section(document: string, heading: string): string {
  const lines = document.split("\n");
  const start = lines.indexOf(`## ${heading}`);
  if (start < 0) throw new Error(`no section "${heading}"`);
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith("## "));
  return lines
    .slice(start, length < 0 ? undefined : start + 1 + length)
    .join("\n")
    .trimEnd();
}
