import { SottoError } from "@sotto/protocol";
import closeWithGrace from "close-with-grace";
import type { ServiceLog } from "./log.ts";
import { redact } from "./redact.ts";

export interface Program {
  /** For people, on standard error: standard output stays one JSON object a line. */
  readonly says: string;
  readonly log: ServiceLog;
  /** Most ms for what is under way at the end. */
  readonly shutdownMs: number;
  close(): Promise<void>;
}

/** A server as a program: until SIGINT or SIGTERM; what does not fit at the start is said in one line, exit code 1. */
export async function runProgram(start: () => Promise<Program>): Promise<void> {
  await endWith(async () => {
    const { says, log, shutdownMs, close } = await start();
    closeWithGrace({ delay: shutdownMs, logger: false }, async ({ err, signal }) => {
      if (err) log.fatal({ err }, "ending after an error nobody caught");
      else log.info({ signal }, "ending");
      await close();
    });
    console.error(says);
  });
}

/** Runs a command; its error is one line `sotto: CODE: message` and exit code 1. */
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
