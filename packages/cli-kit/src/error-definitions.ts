import { CLIENT_ERRORS, PURCHASE_ERRORS } from "@sotto/client";
import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of the command line itself. Messages never contain a secret. */
export const CLI_ERRORS = {
  USAGE: SHARED_ERRORS.USAGE,
  CONFIG_MISSING: {
    means: "There is no config file or no wallet. Run `sotto init`.",
    cause: "This is the first command with this folder, or `--home` names another folder.",
    exit: "usage",
  },
  CONFIG_INVALID: {
    means: "The config file is malformed.",
    cause: "The file was edited by hand, cut off, or written by another version.",
    exit: "usage",
  },
  FILE_EXISTS: {
    means: "The file to be written already exists.",
    cause: "An earlier command wrote the file, or it belongs to something else.",
    exit: "usage",
  },
  FILE_UNREADABLE: {
    means: "A file cannot be read or written.",
    cause: "The path is wrong, this user has no permission, or the disk is full.",
    exit: "usage",
  },
  WALLET_EXISTS: {
    means: "There is already a wallet. `init` and `restore` never replace a key.",
    cause: "An earlier `init` or `restore` made a wallet in this folder.",
    exit: "usage",
  },
  KEY_MISSING: SHARED_ERRORS.KEY_MISSING,
  ACCOUNT_PUBLIC: {
    means: "The account's key is public, and the chain is not local or NODE_ENV is production.",
    cause: "A script for a local chain, with an account of Hardhat or Anvil, was used on another chain.",
    remedy: "choose an account of your own with `--keystore` or SOTTO_ACCOUNT_KEY",
    exit: "key",
  },
  KEY_FILE_UNSAFE: {
    means: "Other users may read or write the key file, or it is not a file of this user.",
    cause: "The file was copied or created with permissions for others, or by another user.",
    exit: "key",
  },
  NOT_CONFIRMED: {
    means: "Nobody confirmed the command.",
    cause: "The answer was not yes, or there is no terminal to ask on and `--yes` was not given.",
    exit: "refused",
  },
  REFUSED: {
    means: "The command refused its input. The message says why.",
    cause: "The receipt or input is about another wallet or payment than the command.",
    exit: "refused",
  },
  PENDING: {
    means: "The command is not finished. Run it again to resume.",
    cause: "Funds or a refund wait for confirmations, or a code was sent and not entered yet.",
    exit: "pending",
    remedy: PURCHASE_ERRORS.FUNDS_TIMED_OUT.remedy,
  },
  ALREADY_REFUNDED: {
    means: "The payment was refunded already, or a refund on other terms is in progress.",
    cause: "The same refund was run before, perhaps with another amount or recipient.",
    exit: "refused",
  },
  BACKUP_INVALID: {
    means: "The backup is damaged, not a backup, or the passphrase is wrong.",
    cause: "The passphrase has a typo, or the file was changed or cut off.",
    exit: "invalid",
  },
  HOST_UNREACHABLE: {
    means: "The host cannot be reached.",
    cause: "The URL is wrong, the server is down, or there is no connection.",
    exit: "network",
  },
  HTTP_STATUS: {
    means: "The response to `request` has a status of 400 or more.",
    cause: "The server refuses or cannot handle this request; payment is not the reason.",
    exit: "status",
  },
  INTERRUPTED: {
    means: "A signal interrupted the command. Run it again to resume.",
    cause: "Someone pressed Ctrl-C, or the system ended the process.",
    exit: "interrupted",
  },
} satisfies ErrorTable;

/** The errors that commands of every program can end with. */
export const COMMAND_ERRORS: ErrorTable = { ...CLIENT_ERRORS, ...CLI_ERRORS };
