import { CLIENT_ERRORS, PURCHASE_ERRORS } from "@sotto/client";
import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of the command line itself. Messages never contain a secret. */
export const CLI_ERRORS = {
  USAGE: SHARED_ERRORS.USAGE,
  CONFIG_MISSING: { means: "There is no config file or no wallet. Run `sotto init`.", exit: "usage" },
  CONFIG_INVALID: { means: "The config file is malformed.", exit: "usage" },
  FILE_EXISTS: { means: "The file to be written exists already.", exit: "usage" },
  FILE_UNREADABLE: { means: "A file cannot be read or written.", exit: "usage" },
  WALLET_EXISTS: { means: "There is a wallet already. `init` and `restore` never replace a key.", exit: "usage" },
  KEY_MISSING: SHARED_ERRORS.KEY_MISSING,
  KEY_FILE_UNSAFE: {
    means: "Other users may read or write the key file, or it is not a file of this user.",
    exit: "key",
  },
  NOT_CONFIRMED: { means: "Nobody confirmed the command.", exit: "refused" },
  REFUSED: { means: "The command refused its input. The message says why.", exit: "refused" },
  PENDING: {
    means: "The command is not finished. Run it again to resume.",
    exit: "pending",
    remedy: PURCHASE_ERRORS.FUNDS_TIMED_OUT.remedy,
  },
  ALREADY_REFUNDED: {
    means: "The payment was refunded already, or a refund on other terms is in progress.",
    exit: "refused",
  },
  BACKUP_INVALID: { means: "The backup is damaged, not a backup, or the passphrase is wrong.", exit: "invalid" },
  HOST_UNREACHABLE: { means: "The host cannot be reached.", exit: "network" },
  HTTP_STATUS: { means: "The response to `request` has a status of 400 or more.", exit: "status" },
  INTERRUPTED: { means: "A signal interrupted the command. Run it again to resume.", exit: "interrupted" },
} satisfies ErrorTable;

/** Every error that a command can end with. */
export const COMMAND_ERRORS: ErrorTable = { ...CLIENT_ERRORS, ...CLI_ERRORS };
