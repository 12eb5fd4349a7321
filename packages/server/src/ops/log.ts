import { type Logger, pino } from "pino";
import { type LogLevels, parseLogLevels } from "../config/log-levels.ts";
import { describeError, redact } from "./redact.ts";
import { Repeats } from "./repeats.ts";

/** Receives log lines. Declared here, so that users of this package do not need pino's types. */
export interface LogSink {
  /** Writes one line, which ends with a line feed. */
  write(line: string): void;
}

type LogLine = (fields: object, message: string) => void;

/** A structured log. Only `createLog` makes one. */
export interface ServiceLog {
  /** Lines below this level are dropped: debug, info, warn, error, fatal or silent. */
  readonly level: string;
  /** The log of a part of the program. Its lines show the name, and its level may be another one. */
  part(name: string): ServiceLog;
  /** Changes the levels of this log and of the logs of all parts, from the next line on. */
  setLevels(levels: LogLevels): void;
  /** Details for finding faults. */
  readonly debug: LogLine;
  /** An ordinary event. */
  readonly info: LogLine;
  /** A fault that the server works around. */
  readonly warn: LogLine;
  /** A fault that needs the operator. */
  readonly error: LogLine;
  /** A fault that ends the process. */
  readonly fatal: LogLine;
}

/**
 * Writes one JSON object per line. Errors are logged by code and stack frames: their messages may quote requests to
 * nodes and databases, with proofs and with URLs that contain keys. Every text of more than one word is redacted.
 *
 * A fault (warn, error) is logged when it appears or changes, and then once a minute, with the number of lines that were left
 * out as `repeated`: a database that is down would otherwise fill the log with one for each request. Level debug shows all.
 * @param levels as in SOTTO_LOG_LEVEL: `info`, or `info,relayer=debug`
 * @param clock now, ms
 */
export function createLog(
  levels: string | LogLevels,
  destination?: LogSink,
  clock: () => number = Date.now,
): ServiceLog {
  const repeats = new Repeats(clock);
  // Levels that are not settings, such as trace, are pino's own.
  const wanted = typeof levels === "string" ? (parseLogLevels(levels) ?? { base: levels, parts: {} }) : levels;
  const options = {
    level: wanted.base,
    base: { service: "sotto" },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { req: () => undefined, res: () => undefined },
    formatters: { log: (fields: object) => Object.fromEntries(Object.entries(fields).map(shown)) },
    hooks: {
      logMethod(this: Logger, args: unknown[], method: (...values: never[]) => void, number: number) {
        const isFault = number >= pino.levels.values["warn"]! && number <= pino.levels.values["error"]!;
        const [fields, message] = partsOf(args);
        // Two parts may have the same fault.
        const fault = () => `${this.bindings()["name"] ?? ""} ${message}`;
        const repeated = isFault && !this.isLevelEnabled("debug") ? repeats.next(fields, fault()) : 0;
        if (repeated === undefined) return;
        const line = repeated === 0 ? args : [{ ...fields, repeated }, message];
        method.apply(this, line.map((each) => (typeof each === "string" ? redact(each) : each)) as never[]);
      },
    },
  };
  return withParts(destination === undefined ? pino(options) : pino(options, destination), wanted.parts);
}

/** Children of a pino logger inherit these methods, so every log of a program has them. */
function withParts(root: Logger, levels: Readonly<Record<string, string>>): Logger & ServiceLog {
  const parts = new Map<string, Logger & ServiceLog>();
  let own = levels;
  const log = Object.assign(root, {
    part(name: string): ServiceLog {
      const known = parts.get(name);
      if (known !== undefined) return known;
      const made = log.child({ name }, { level: own[name] ?? log.level }) as Logger & ServiceLog;
      parts.set(name, made);
      return made;
    },
    setLevels({ base, parts: next }: LogLevels): void {
      own = next;
      log.level = base;
      for (const [name, part] of parts) part.level = next[name] ?? base;
    },
  });
  return log;
}

/** The fields and the message of a line. Libraries also log an error alone, or a message alone. */
function partsOf([first, second]: readonly unknown[]): [fields: object, message: string] {
  if (typeof first === "string") return [{}, first];
  const fields = first instanceof Error ? { err: first } : Object(first);
  return [fields, typeof second === "string" ? second : ""];
}

/** A field as it is logged. A single word (a hash, an id) is safe, because our own code chose to log it. */
function shown([name, value]: [string, unknown]): [string, unknown] {
  if (name === "err" || value instanceof Error) return [name, describeError(value)];
  return [name, typeof value === "string" && /\s|:\/\//.test(value) ? redact(value) : value];
}
