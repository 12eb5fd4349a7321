import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Every code the command line adds. Codes are stable, messages are not. No message repeats a secret. */
export type CliErrorCode =
  /** An option or argument that is unknown, missing or of the wrong kind. */
  | "USAGE"
  /** There is no config file, or no wallet: run `sotto init`. */
  | "CONFIG_MISSING"
  | "CONFIG_INVALID"
  | "FILE_EXISTS"
  | "FILE_UNREADABLE"
  /** `init` and `restore` never replace a key. */
  | "WALLET_EXISTS"
  /** Another process has the wallet. */
  | "WALLET_BUSY"
  | "KEY_MISSING"
  /** A key file that others than its owner may read or write, or that is not a file of this user. */
  | "KEY_FILE_UNSAFE"
  /** Nobody said yes. */
  | "NOT_CONFIRMED"
  /** The other side said no. */
  | "REFUSED"
  /** Not over yet. */
  | "PENDING"
  /** This payment was paid back already, or is being paid back on other terms. */
  | "ALREADY_REFUNDED"
  | "BACKUP_INVALID"
  | "HOST_UNREACHABLE"
  /** The answer of `request` has a status of 400 or more. */
  | "HTTP_STATUS"
  /** This Node has no SQLite. */
  | "NODE_TOO_OLD"
  | "INTERRUPTED";

export class CliError extends SottoError {
  override readonly name = "CliError";
  declare readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}

export const usage = (message: string): CliError => new CliError("USAGE", message);
