import { pino } from "pino";
import { describeError, redact } from "./redact.ts";

/** Where log lines go; the service's own type, so that who uses the package needs no other's. */
export interface LogSink {
  write(line: string): void;
}

type LogLine = (fields: object, message: string) => void;

/** A log of the service. Made by `createLog` alone. */
export interface ServiceLog {
  readonly level: string;
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  readonly fatal: LogLine;
}

/**
 * Structured logs, one JSON object a line. Errors are shown by code and place: their messages may quote what nodes and
 * databases were asked, proofs and addresses with keys among them. Texts of several words are redacted, whoever wrote them.
 */
export function createLog(level: string, destination?: LogSink): ServiceLog {
  const options = {
    level,
    base: { service: "sotto" },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { req: () => undefined, res: () => undefined },
    formatters: { log: (fields: object) => Object.fromEntries(Object.entries(fields).map(shown)) },
    hooks: {
      logMethod(args: unknown[], method: (...values: never[]) => void) {
        method.apply(this, args.map((each) => (typeof each === "string" ? redact(each) : each)) as never[]);
      },
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** A field as it is logged. One word, a hash or an id, was chosen by who logs it. */
function shown([name, value]: [string, unknown]): [string, unknown] {
  if (name === "err" || value instanceof Error) return [name, describeError(value)];
  return [name, typeof value === "string" && /\s|:\/\//.test(value) ? redact(value) : value];
}
