import type { ErrorTable } from "@sotto/protocol";

/** The errors of paying a challenge of MPP. Nothing was paid when one of these is thrown. */
export const MPP_CLIENT_ERRORS = {
  MPP_OPTION_INVALID: {
    means: "An option of `mpp` does not exist or has the wrong type.",
    cause: "An option has a typo, or belongs to another version.",
    exit: "usage",
  },
  MPP_CHALLENGE_EXPIRED: {
    means:
      "The challenge has no time of expiry, or too little time is left to prove and settle. Details: `expires`, `seconds`.",
    cause: "The server gives less than a minute, its clock is wrong, or a cache stored its 402.",
    exit: "refused",
  },
  MPP_DIGEST_MISMATCH: {
    means: "The challenge is for another request body than the one that was sent.",
    cause: "A proxy changed the body, or the server computes the digest of something else.",
    exit: "refused",
  },
  MPP_HEADER_UNKNOWN: {
    means: "The challenge asks for the credential in a header that the client does not use. Details: `header`.",
    cause: "The server has a header of its own instead of Authorization or Payment-Authorization.",
    exit: "refused",
  },
  MPP_CHALLENGE_TOO_LONG: {
    means: "The challenge is so long that its credential would exceed the 8 KB that servers and proxies accept.",
    cause: "The server puts too much data into `opaque`, `description` or the realm.",
    exit: "refused",
  },
} satisfies ErrorTable;
