import { SottoError } from "@sotto/protocol";
import { type DestinationStream, type Logger, pino } from "pino";

/**
 * Structured logs, one JSON object a line. Errors are shown by code and place: their messages may quote what nodes and
 * databases were asked, proofs and addresses with keys among them.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
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
