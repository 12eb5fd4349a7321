// The commands of the pages for operators: the blocks `console` of a document, by the heading before them.
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";

export const ROOT = join(import.meta.dirname, "..", "..", "..");

export interface Block {
  /** `PAGE: TITLE`, with a number if the part of the page has several blocks: `operations-backup.md: Restore 2`. */
  readonly name: string;
  /** The command lines, without the prompt. */
  readonly commands: readonly string[];
}

/** @param page name in docs/ */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, "docs", page), "utf8");
  const counts = new Map<string, number>();
  return [...text.matchAll(/^```console\n(.*?)^```$/gms)].map(({ 1: block = "", index }) => {
    const titles = [...text.slice(0, index).matchAll(/^#+ (.+)$/gm)];
    const title = titles.at(-1)?.[1] ?? "";
    const count = (counts.get(title) ?? 0) + 1;
    counts.set(title, count);
    // A line that ends with a backslash continues.
    const commands = [...block.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, line = ""]) => line);
    return { name: `${page}: ${title}${count === 1 ? "" : ` ${count}`}`, commands };
  });
}

/** The commands of one block. @throws Error if the page has no block of this name */
export function commandsOf(name: string): readonly string[] {
  const block = blocksOf(name.split(":")[0]!).find((each) => each.name === name);
  if (block === undefined) throw new Error(`no block of commands has the name ${name}`);
  return block.commands;
}

type Run = readonly [commands: readonly string[], cwd: string, variables: Readonly<Record<string, string>>];

/** Without --norc, bash takes a socket as its standard input for a remote login. */
const shell = (...[commands, cwd, variables]: Run) =>
  [
    "bash",
    ["--norc", "-euo", "pipefail", "-c", commands.join("\n")],
    { cwd, env: { ...BASE_ENVIRONMENT, ...variables }, encoding: "utf8" },
  ] as const;

/** Runs commands in one shell, which stops at the first that fails. @returns what they print */
export const runAll = (...run: Run): string => execFileSync(...shell(...run));

/** The same for commands that ask a server of this process. */
export const runLater = async (...run: Run): Promise<string> => (await promisify(execFile)(...shell(...run))).stdout;

/** Whether a program is installed. */
export const isInstalled = (program: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
