import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of `create-sotto`. */
export const CREATE_ERRORS = {
  FOLDER_NOT_EMPTY: {
    means: "The folder of the new project contains files.",
    cause: "The folder belongs to another project, or an earlier run wrote to it.",
    exit: "usage",
  },
  FOLDER_NOT_WRITABLE: {
    means: "The folder of the new project cannot be created or written.",
    cause: "The path is a file, the disk is full, or this user has no permission.",
    exit: "usage",
  },
  NAME_INVALID: {
    means: "The folder's name is not a package name.",
    cause: "The name has upper-case letters, spaces or special characters, which npm does not allow.",
    exit: "usage",
  },
  TEMPLATE_UNKNOWN: {
    means: "There is no template of this name.",
    cause: "The name has a typo, or belongs to another version.",
    exit: "usage",
  },
  USAGE: SHARED_ERRORS.USAGE,
} satisfies ErrorTable;
