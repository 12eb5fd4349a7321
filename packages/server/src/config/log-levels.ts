/** The levels of a log, the lowest first; silent drops every line. */
export const LEVELS = ["debug", "info", "warn", "error", "fatal", "silent"] as const;

/** A level of a log. */
export type LogLevel = (typeof LEVELS)[number];

/** The lowest levels that are logged. */
export interface LogLevels {
  /** Of every part without a level of its own. */
  readonly base: LogLevel;
  /** By the part's name, as its lines show it in `name`. */
  readonly parts: Readonly<Record<string, LogLevel>>;
}

/** More than any program has. */
const MAX_PARTS = 32;
const PART = /^([a-z][a-z-]{0,31})=([a-z]+)$/;

const levelOf = (text: string): LogLevel | undefined => LEVELS.find((level) => level === text);

/** Parses `info`, `relayer=debug` or `warn,relayer=debug`. @returns undefined for any other text */
export function parseLogLevels(text: string): LogLevels | undefined {
  const parts = new Map<string, LogLevel>();
  let base: LogLevel | undefined;
  const items = text.split(",").map((item) => item.trim());
  if (items.length > MAX_PARTS) return undefined;
  for (const item of items) {
    const [, name, named] = PART.exec(item) ?? [];
    const level = levelOf(named ?? item);
    if (level === undefined) return undefined;
    if (name === undefined ? base !== undefined : parts.has(name)) return undefined;
    if (name === undefined) base = level;
    else parts.set(name, level);
  }
  return { base: base ?? "info", parts: Object.fromEntries(parts) };
}

/** The problem of a setting that names a part that the program does not have, for `assertNoProblems`. */
export function logLevelProblems({ parts }: LogLevels, known: readonly string[]): string[] {
  const unknown = Object.keys(parts).filter((name) => !known.includes(name));
  return unknown.map((name) => `SOTTO_LOG_LEVEL names ${name}, but the parts are ${known.join(", ")}`);
}
