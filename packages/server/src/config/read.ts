import { readFileSync } from "node:fs";
import { ServerError } from "../errors.ts";
import type { Setting, SettingTable, SettingValues } from "./setting.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of the tools in this repository, which are not settings of a server. */
const FOREIGN = new Set(
  ["LONG", "DEBUG", "TEST_EVENTS", "CHROMIUM", "SCREENSHOT", "DEPLOY_RPC_URL", "DEPLOYER_KEY"].map(
    (name) => `SOTTO_${name}`,
  ),
);

/** The settings that were read, and the problems found in them. */
export interface ReadSettings<T extends SettingTable> {
  /** The parsed settings; undefined for each one that is missing or has a problem. */
  readonly values: SettingValues<T>;
  /** Sentences that begin with a variable's name. Callers add their own and then call `assertNoProblems`. */
  readonly problems: string[];
}

/**
 * Reads settings from the environment. It never throws, so that all problems are reported together.
 * @param page the page of docs/ that lists all settings of the program
 */
export function readSettings<T extends SettingTable>(
  table: T,
  environment: Environment,
  page = "operations",
): ReadSettings<T> {
  const problems: string[] = [];
  const found: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) found[name] = readSetting(setting, environment, problems);
  const known = new Set(
    Object.values(table).flatMap(({ variable, secret }) => [variable, secret ? `${variable}_FILE` : ""]),
  );
  for (const variable of Object.keys(environment))
    if (variable.startsWith("SOTTO_") && !known.has(variable) && !FOREIGN.has(variable))
      problems.push(`${variable} is not a setting of this program; see docs/${page}.md`);
  return { values: found as SettingValues<T>, problems };
}

/** Refuses settings with problems. @throws ServerError INVALID_CONFIG; the message names every wrong variable */
export function assertNoProblems(problems: readonly string[]): void {
  if (problems.length > 0) throw new ServerError("INVALID_CONFIG", problems.join("; "), { count: problems.length });
}

/** Whether one of these problems is about this setting, or about the file that contains its value. */
export const isWrong = ({ variable }: Setting<unknown>, problems: readonly string[]): boolean =>
  problems.some((problem) => [variable, `${variable}_FILE`].includes(problem.split(" ", 1)[0]!));

const isMissing = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

/** Adds a problem for each of these settings that is missing, or an empty list, and has no problem yet. */
export function reportMissing<T extends SettingTable>(
  table: T,
  { values, problems }: ReadSettings<T>,
  names: readonly (keyof T & string)[],
): void {
  for (const name of names) {
    const setting = table[name]!;
    if (isMissing(values[name]) && !isWrong(setting, problems))
      problems.push(`${setting.variable} is missing: ${setting.about}`);
  }
}

function readSetting<T>(setting: Setting<T>, environment: Environment, problems: string[]): T | undefined {
  const { variable, parse, fallback, secret } = setting;
  const value = fromFile(setting, environment, problems) ?? environment[variable];
  const given = value === undefined || value === "" ? fallback : value;
  if (given === undefined) return undefined;
  try {
    return parse(given);
  } catch (error) {
    const shown = secret || given.length > 100 ? "" : `, got ${JSON.stringify(given)}`;
    problems.push(`${variable} ${(error as Error).message}${shown}`);
    return undefined;
  }
}

function fromFile({ variable, secret }: Setting<unknown>, environment: Environment, problems: string[]) {
  const path = secret ? environment[`${variable}_FILE`] : undefined;
  if (path === undefined || path === "") return undefined;
  try {
    const text = readFileSync(path, "utf8").trim();
    // An empty file is one that is being written. Its setting must not get the default, which may be another node or key.
    if (text !== "") return text;
    problems.push(`${variable}_FILE names a file that is empty`);
  } catch {
    problems.push(`${variable}_FILE names a file that cannot be read`);
  }
  return undefined;
}

/** The settings as a Markdown table, for the documentation. */
export function settingsTable(table: SettingTable): string {
  const rows = Object.values(table).map(({ variable, fallback, about, secret, live }) => {
    const shown = fallback === undefined || fallback === "" ? "" : `\`${fallback}\``;
    return `| \`${variable}\` | ${shown} | ${live ? "yes" : ""} | ${about}${secret ? "; secret" : ""} |`;
  });
  return ["| variable | default | reread | description |", "|---|---|---|---|", ...rows].join("\n");
}
