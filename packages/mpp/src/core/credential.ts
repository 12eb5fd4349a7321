// A credential: a payment and the challenge that it answers, in the header Authorization of a request.
import { describe } from "@sotto/protocol/extend";
import { PAYMENT_SCHEME } from "./auth-header.ts";
import { assertChallenge, type MppChallenge } from "./challenge.ts";
import { refuse } from "./errors.ts";
import { decodeText, encodeJson, fieldOf, type Json, parseJson, recordOf } from "./json.ts";

const CODE = "MPP_CREDENTIAL_INVALID";

/** The request header of a credential, unless the challenge names another one. */
export const CREDENTIAL_HEADER = "Authorization";

/** Maximum length of a credential, characters: with the header's name, the line stays below 8 KiB, which proxies accept. */
export const MAX_CREDENTIAL_LENGTH = 8_160;

/** A payment and the challenge that it answers. */
export interface MppCredential {
  /** The challenge, unchanged. */
  readonly challenge: MppChallenge;
  /** The payment. For this method, the object that the header X-Payment-Proof has as JSON. */
  readonly payload: Json;
  /** The payer's identifier. sotto's client sends none, and its server ignores it. */
  readonly source?: string | undefined;
}

/** The payload of a credential: what the header X-Payment-Proof says, without the fields that the server knows. */
export function proofPayload(header: string): Json {
  const json = parseJson(header, "the proof header", CODE);
  const { senderCommitment: _, amountPublicSignals: __, resourceUrl: ___, ...payload } = json;
  return payload;
}

/** A credential as the value of Authorization. @throws MppError MPP_CREDENTIAL_INVALID, including if it is too long */
export function encodeCredential({ challenge, payload, source }: MppCredential): string {
  const checked = assertChallenge(challenge as unknown as Json, CODE);
  const value = `${PAYMENT_SCHEME} ${encodeJson({ challenge: checked, payload: recordOf(payload, "payload", CODE), source })}`;
  if (value.length > MAX_CREDENTIAL_LENGTH)
    refuse(CODE, `the credential has ${value.length} characters, but servers accept ${MAX_CREDENTIAL_LENGTH}`);
  return value;
}

/**
 * Parses the token of a credential: what follows the scheme. Ignores unknown fields. Nothing in it is verified.
 * @throws MppError MPP_CREDENTIAL_INVALID
 */
export function parseCredential(token: string): MppCredential {
  if (token.length > MAX_CREDENTIAL_LENGTH)
    refuse(CODE, `the credential has ${token.length} characters, at most ${MAX_CREDENTIAL_LENGTH} are accepted`);
  const json = parseJson(decodeText(token, "the credential", CODE), "the credential", CODE);
  const source = fieldOf(json, "source");
  if (source !== undefined && typeof source !== "string")
    refuse(CODE, `the credential's source must be a text, got ${describe(source)}`);
  return {
    challenge: assertChallenge(recordOf(fieldOf(json, "challenge"), "challenge", CODE), CODE),
    payload: recordOf(fieldOf(json, "payload"), "payload", CODE),
    source,
  };
}
