import { SottoError } from "@sotto/protocol";
import closeWithGrace from "close-with-grace";
import type { ServiceLog } from "./log.ts";
import { redact } from "./redact.ts";

/** A server as a program: it runs until a signal. */
export interface Program {
  /** A line for the operator, printed to standard error: standard output contains one JSON object per line. */
  readonly says: string;
  /** Receives the reason of the shutdown. */
  readonly log: ServiceLog;
  /** Time for running requests to finish at shutdown, ms. */
  readonly shutdownMs: number;
  /** Stops accepting requests, and ends when the running ones have finished. */
  close(): Promise<void>;
}

/** Runs a server until SIGINT or SIGTERM. If the start fails, it prints one line and exits with code 1. */
export async function runProgram(start: () => Promise<Program>): Promise<void> {
  await endWith(async () => {
    const { says, log, shutdownMs, close } = await start();
    closeWithGrace({ delay: shutdownMs, logger: false }, async ({ err, signal }) => {
      if (err) log.fatal({ err }, "shutting down after an uncaught error");
      else log.info({ signal }, "shutting down");
      await close();
    });
    console.error(says);
  });
}

/** Runs a command. If it fails, it prints one line `sotto: CODE: message` and exits with code 1. */
export async function endWith(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const code = error instanceof SottoError ? error.code : "UNEXPECTED";
    const text = error instanceof Error ? error.message : String(error);
    console.error(`sotto: ${code}: ${redact(text)}`);
    process.exit(1);
  }
}
