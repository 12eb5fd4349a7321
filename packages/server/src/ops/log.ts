import { pino } from "pino";
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
 * @param clock now, ms
 */
export function createLog(level: string, destination?: LogSink, clock: () => number = Date.now): ServiceLog {
  const repeats = level === "debug" ? undefined : new Repeats(clock);
  const options = {
    level,
    base: { service: "sotto" },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { req: () => undefined, res: () => undefined },
    formatters: { log: (fields: object) => Object.fromEntries(Object.entries(fields).map(shown)) },
    hooks: {
      logMethod(args: unknown[], method: (...values: never[]) => void, number: number) {
        const isFault = number >= pino.levels.values["warn"]! && number <= pino.levels.values["error"]!;
        const [fields, message] = partsOf(args);
        const repeated = isFault && repeats !== undefined ? repeats.next(fields, message) : 0;
        if (repeated === undefined) return;
        const line = repeated === 0 ? args : [{ ...fields, repeated }, message];
        method.apply(this, line.map((each) => (typeof each === "string" ? redact(each) : each)) as never[]);
      },
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
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
