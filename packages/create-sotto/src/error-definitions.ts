import { type ErrorTable, SHARED_ERRORS } from "@sotto/protocol";

/** The errors of `create-sotto`. */
export const CREATE_ERRORS = {
  FOLDER_NOT_EMPTY: { means: "The folder of the new project contains files.", exit: "usage" },
  FOLDER_NOT_WRITABLE: { means: "The folder of the new project cannot be created or written.", exit: "usage" },
  NAME_INVALID: { means: "The folder's name is not a package name.", exit: "usage" },
  TEMPLATE_UNKNOWN: { means: "There is no template of this name.", exit: "usage" },
  USAGE: SHARED_ERRORS.USAGE,
} satisfies ErrorTable;
