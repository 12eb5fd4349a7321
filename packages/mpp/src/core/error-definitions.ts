import type { ErrorTable } from "@sotto/protocol";

/** The errors of MPP's wire formats. */
export const MPP_ERRORS = {
  MPP_CHALLENGE_INVALID: {
    means: "A challenge of the authentication scheme Payment is malformed. The message names the parameter.",
    cause: "The server has another version of MPP, or a proxy changed or shortened the header.",
  },
  MPP_REQUEST_INVALID: {
    means: "The request of a challenge does not ask for a sotto payment, or a field of it is malformed.",
    cause: "The server has another version of the method, or builds the request itself.",
  },
  MPP_CREDENTIAL_INVALID: {
    means: "A credential of the authentication scheme Payment is malformed. The message names the field.",
    cause: "The client has another version of MPP, or a proxy changed or shortened the header.",
  },
  MPP_RECEIPT_INVALID: {
    means: "The header Payment-Receipt is malformed.",
    cause: "The server has another version of MPP, or a proxy changed or shortened the header.",
  },
} satisfies ErrorTable;
