import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder, which is deleted when the process ends. @param name a part of its name */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `sotto-${name}-`));
  folders.push(folder);
  return folder;
}
