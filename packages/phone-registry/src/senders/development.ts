import { chmod, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { PhoneError } from "../errors.ts";
import type { CodeMessage, CodeSender } from "../registry/options.ts";

/** Development senders do not protect codes, so they are allowed only where tokens have no value. */
export interface SenderEnvironment {
  /** Whether settings for development are allowed: on a local chain, unless NODE_ENV is production. */
  readonly local: boolean;
}

/** @throws PhoneError DEVELOPMENT_SENDER_REFUSED */
function assertDevelopment(name: string, { local }: SenderEnvironment): void {
  if (local) return;
  throw new PhoneError(
    "DEVELOPMENT_SENDER_REFUSED",
    `the sender "${name}" does not protect codes and is refused in production and on a chain that is not local; use webhook`,
  );
}

const lineOf = ({ phone, code, wallet, expiresAt }: CodeMessage): string =>
  `${JSON.stringify({ phoneNumber: phone, code, walletAddress: wallet, expiresAt })}\n`;

/** Appends each code to a file with one JSON object per line, which only its owner can read. For development. */
export class FileSender implements CodeSender {
  readonly #path: string;

  /** @throws PhoneError DEVELOPMENT_SENDER_REFUSED */
  constructor(path: string, environment: SenderEnvironment) {
    assertDevelopment("file", environment);
    this.#path = path;
  }

  async send(message: CodeMessage): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    const file = await open(this.#path, "a", 0o600);
    try {
      await file.appendFile(lineOf(message));
    } finally {
      await file.close();
    }
    // An existing file may have been readable by others.
    await chmod(this.#path, 0o600);
  }
}

/** Prints each code on standard error, for development. The log never contains codes. */
export class LogSender implements CodeSender {
  readonly #write: (line: string) => void;

  /** @throws PhoneError DEVELOPMENT_SENDER_REFUSED */
  constructor(
    environment: SenderEnvironment,
    write: (line: string) => void = (line) => void process.stderr.write(line),
  ) {
    assertDevelopment("log", environment);
    this.#write = write;
  }

  async send(message: CodeMessage): Promise<void> {
    this.#write(`sotto: a code (development only): ${lineOf(message)}`);
  }
}
