import { SottoError } from "@sotto/protocol";
import { pino } from "pino";

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
 * databases were asked, proofs and addresses with keys among them.
 */
export function createLog(level: string, destination?: LogSink): ServiceLog {
  const options = {
    level,
    base: { service: "sotto" },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError, req: () => undefined, res: () => undefined },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

const FRAMES = 8;

/** An error's name, code, place, and its own message where we wrote it. */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code } = error as { code?: unknown };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    ...(typeof code === "string" ? { code } : {}),
    ...(error instanceof SottoError ? { message: error.message } : {}),
    at: frames.slice(0, FRAMES).map((line) => line.trim().slice(3)),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
