import { readFileSync, statSync } from "node:fs";
import { assertNoProblems, type Environment } from "./read.ts";

/** The variable that names the file. */
export const SETTINGS_FILE = "SOTTO_SETTINGS_FILE";

/** All settings with all keys need less than a tenth. */
const MAX_FILE_BYTES = 256 * 1024;
/** Wrong lines that an error names. If the path leads to another kind of file, every line is wrong. */
const MAX_SHOWN = 10;
const LINE = /^([A-Z][A-Z0-9_]{0,63})=(.*)$/;

/**
 * Adds the settings of the file that SOTTO_SETTINGS_FILE names. A running program can read them again, unlike its environment.
 * A variable of the environment takes precedence over the file's, also if one of both has `_FILE` at its end.
 * @throws ServerError INVALID_CONFIG; the message names the file and the line, and shows nothing of its content
 */
export function withSettingsFile(environment: Environment): Environment {
  const settings = readSettingsFile(environment);
  if (settings.size === 0) return environment;
  const hidden = new Set(hiddenIn(settings, environment));
  return { ...Object.fromEntries([...settings].filter(([name]) => !hidden.has(name))), ...given(environment) };
}

/** Settings of the file that have no effect, because the environment has them with another value. @throws ServerError INVALID_CONFIG */
export function hiddenSettings(environment: Environment): string[] {
  const settings = readSettingsFile(environment);
  return hiddenIn(settings, environment).filter((name) => environment[name] !== settings.get(name));
}

/** A variable that is empty counts as absent. */
const given = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name, value]) => !name.startsWith("SOTTO_") || value !== ""));

const hiddenIn = (settings: ReadonlyMap<string, string>, environment: Environment): string[] => {
  const base = (name: string) => name.replace(/_FILE$/, "");
  const names = new Set(Object.keys(given(environment)).map(base));
  return [...settings.keys()].filter((name) => names.has(base(name)));
};

function readSettingsFile(environment: Environment): ReadonlyMap<string, string> {
  const path = environment[SETTINGS_FILE];
  if (path === undefined || path === "") return new Map();
  const { settings, problems } = parseSettings(readText(path));
  const shown = problems.slice(0, MAX_SHOWN);
  if (problems.length > MAX_SHOWN) shown.push(`has ${problems.length - MAX_SHOWN} more wrong lines`);
  assertNoProblems(shown.map((problem) => `${SETTINGS_FILE} ${problem} (${path})`));
  return settings;
}

function readText(path: string): string {
  const refuse = (problem: string) => assertNoProblems([`${SETTINGS_FILE} names ${path}, which ${problem}`]);
  try {
    const stat = statSync(path);
    if (!stat.isFile()) refuse("is not a file");
    if (stat.size > MAX_FILE_BYTES) refuse(`has ${stat.size} bytes, but at most ${MAX_FILE_BYTES} are allowed`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: unknown }).code === "INVALID_CONFIG") throw error;
    refuse("cannot be read");
    return "";
  }
}

/** The lines NAME=VALUE. Empty lines and lines that begin with # are left out; quotes around a value are removed. */
function parseSettings(text: string): { readonly settings: Map<string, string>; readonly problems: string[] } {
  const settings = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const [, name = "", value = ""] = LINE.exec(line) ?? [];
    const problem = problemOf(name, settings);
    if (problem !== undefined) problems.push(`line ${index + 1} ${problem}`);
    else settings.set(name, unquoted(value.trim()));
  }
  return { settings, problems };
}

function problemOf(name: string, settings: ReadonlyMap<string, string>): string | undefined {
  if (name === "") return "must be NAME=VALUE, a comment that begins with #, or empty";
  if (!name.startsWith("SOTTO_")) return "must set a variable that begins with SOTTO_";
  if (name === SETTINGS_FILE) return `must not set ${SETTINGS_FILE} itself`;
  return settings.has(name) ? `sets ${name} again` : undefined;
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
