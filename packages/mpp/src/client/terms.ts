// Reads a challenge of this method as the terms of a private payment.
import type { PrivateTerms } from "@sotto/client";
import { buildInstructions, MAX_PROOF_HEADER_LENGTH, type PaymentInstructions, quoted } from "@sotto/protocol";
import type { MppChallenge } from "../core/challenge.ts";
import { parseCharge } from "../core/charge.ts";
import { CREDENTIAL_HEADER, encodeCredential, MAX_CREDENTIAL_LENGTH } from "../core/credential.ts";
import { bodyDigestOf } from "../core/digest.ts";
import { reading } from "../core/errors.ts";
import { MppClientError } from "./errors.ts";

/** The header for credentials of servers where Authorization belongs to the application. */
export const PAYMENT_AUTHORIZATION = "Payment-Authorization";

/** Time that is left for a proof and its settlement at least, ms. */
const MIN_LEFT_MS = 60_000;

/** What a challenge is compared with. */
export interface Request {
  readonly url: URL;
  /** SHA-256; undefined if the request has no body. */
  readonly bodyHash: Uint8Array | undefined;
  /** The server's time when it answered, or this machine's if the server does not say it; ms. */
  readonly now: number;
}

/** @throws MppError MPP_REQUEST_INVALID; MppClientError */
export function termsOf(challenge: MppChallenge, request: Request): PrivateTerms {
  const header = headerOf(challenge);
  assertTime(challenge, request.now);
  assertDigest(challenge, request.bodyHash);
  const { realm, description } = challenge;
  return {
    instructions: instructionsOf(challenge, request),
    header,
    kept: JSON.stringify(challenge),
    stated: { realm, ...(description === undefined ? {} : { description }) },
  };
}

/** @throws MppClientError MPP_HEADER_UNKNOWN */
function headerOf({ header = CREDENTIAL_HEADER }: MppChallenge): string {
  const found = [CREDENTIAL_HEADER, PAYMENT_AUTHORIZATION].find((name) => name.toLowerCase() === header.toLowerCase());
  if (found !== undefined) return found;
  throw new MppClientError(
    "MPP_HEADER_UNKNOWN",
    `the server asks for the credential in the header ${quoted(header)}, expected ${CREDENTIAL_HEADER} or ${PAYMENT_AUTHORIZATION}; nothing was paid`,
    { header: header.slice(0, 64) },
  );
}

/**
 * MPP's servers refuse credentials of challenges that have expired, or that have no expiry.
 * @throws MppClientError MPP_CHALLENGE_EXPIRED
 */
function assertTime({ expires = "" }: MppChallenge, now: number): void {
  const left = Date.parse(expires) - now;
  if (left >= MIN_LEFT_MS) return;
  const seconds = Math.floor(left / 1000);
  const found = Number.isFinite(left) ? `expires in ${seconds} s` : "has no valid time of expiry";
  throw new MppClientError(
    "MPP_CHALLENGE_EXPIRED",
    `the challenge ${found}, but proving and settling may take ${MIN_LEFT_MS / 1000} s; nothing was paid`,
    { expires: expires.slice(0, 64), ...(Number.isFinite(left) ? { seconds } : {}) },
  );
}

/** mppx writes the digest without the colons of RFC 9530. @throws MppClientError MPP_DIGEST_MISMATCH */
function assertDigest({ digest }: MppChallenge, bodyHash: Uint8Array | undefined): void {
  const own = bodyDigestOf(bodyHash);
  if (digest === undefined || digest === own || digest === own.replaceAll(":", "")) return;
  throw new MppClientError("MPP_DIGEST_MISMATCH", "the challenge is for another request body; nothing was paid");
}

function instructionsOf(challenge: MppChallenge, { url, now }: Request): PaymentInstructions {
  const { amount: price, service: serviceUrl, resource = url.href, ...charge } = parseCharge(challenge.request);
  const instructions = reading("MPP_REQUEST_INVALID", () =>
    buildInstructions({ ...charge, price, serviceUrl, resource, now }),
  );
  const { payment } = instructions;
  const zkProof = { ...payment.zkProof, maxHeaderLength: roomFor(challenge) };
  return { ...instructions, payment: { ...payment, zkProof } };
}

/** Bytes that the proof may have as JSON in a credential of this challenge. @throws MppClientError MPP_CHALLENGE_TOO_LONG */
function roomFor(challenge: MppChallenge): number {
  // Three bytes of JSON are four characters; an empty payload has the two braces of the proof.
  const rest = (MAX_CREDENTIAL_LENGTH - encodeCredential({ challenge, payload: {} }).length - 4) * 0.75;
  const room = Math.min(Math.floor(rest), MAX_PROOF_HEADER_LENGTH);
  if (room > 0) return room;
  throw new MppClientError("MPP_CHALLENGE_TOO_LONG", "the challenge leaves no room for a proof; nothing was paid");
}
