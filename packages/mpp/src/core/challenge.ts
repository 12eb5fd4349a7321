// A challenge: what a server asks for, in the header WWW-Authenticate of a 402.
import { describe } from "@sotto/protocol/extend";
import { PAYMENT_SCHEME, parametersOf, paymentSchemes, quotedParameter } from "./auth-header.ts";
import { type MppErrorCode, refuse } from "./errors.ts";
import { fieldOf, type Json } from "./json.ts";

/** MPP's name of this method. */
export const MPP_METHOD = "sotto";
/** The only intent of this method: a single payment. */
export const MPP_INTENT = "charge";

/** Maximum length of a challenge, characters: MPP demands that clients accept 4,096. */
export const MAX_CHALLENGE_LENGTH = 8_192;

/** The parameters of a challenge, as they are on the wire. A credential repeats them unchanged. */
export interface MppChallenge {
  /** Identifies the challenge. The server computes it from the other parameters. */
  readonly id: string;
  /** The server's protection space, such as its host. */
  readonly realm: string;
  /** Method of payment. */
  readonly method: string;
  /** Kind of payment. */
  readonly intent: string;
  /** JSON as base64url; `parseCharge` reads it if the method is sotto. */
  readonly request: string;
  /** RFC 3339. Absent if the challenge does not expire. */
  readonly expires?: string | undefined;
  /** Digest of the request's body (RFC 9530). Absent if the challenge is for any body. */
  readonly digest?: string | undefined;
  /** Data of the server, base64url. */
  readonly opaque?: string | undefined;
  /** For people; no check may rely on it. */
  readonly description?: string | undefined;
  /** The request header for the credential, if it is not Authorization. An extension of mppx. */
  readonly header?: string | undefined;
}

const REQUIRED = ["id", "realm", "method", "intent", "request"] as const;
const OPTIONAL = ["expires", "digest", "opaque", "description", "header"] as const;

/** RFC 3339. */
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const TEXT = /^[^\p{Cc}\p{Cs}]*$/u;
const FORMS: Readonly<Partial<Record<keyof MppChallenge, RegExp>>> = {
  method: /^[a-z][a-z0-9:_-]*$/,
  intent: /^[A-Za-z0-9-]+$/,
  request: /^[A-Za-z0-9_-]+$/,
  opaque: /^[A-Za-z0-9_-]+$/,
  expires: TIMESTAMP,
  digest: /^sha-256=[!-~]+$/,
  header: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
};

/**
 * Checks the parameters of a challenge. Ignores unknown ones.
 * @throws MppError with the code
 */
export function assertChallenge(json: Json, code: MppErrorCode): MppChallenge {
  const challenge: Record<string, string> = {};
  for (const name of [...REQUIRED, ...OPTIONAL]) {
    const value = fieldOf(json, name);
    if (value === undefined && (OPTIONAL as readonly string[]).includes(name)) continue;
    const form = FORMS[name] ?? TEXT;
    if (typeof value !== "string" || !form.test(value) || (name === "id" && value === ""))
      refuse(code, `the challenge's ${name} is missing or malformed: ${describe(value)}`, { name });
    challenge[name] = value;
  }
  return challenge as unknown as MppChallenge;
}

/** A challenge as a value of WWW-Authenticate. @throws MppError MPP_CHALLENGE_INVALID */
export function encodeChallenge(challenge: MppChallenge): string {
  const checked = assertChallenge(challenge as unknown as Json, "MPP_CHALLENGE_INVALID");
  const parameters = [...REQUIRED, ...OPTIONAL].flatMap((name) => {
    const value = checked[name];
    return value === undefined ? [] : [quotedParameter(name, value)];
  });
  return `${PAYMENT_SCHEME} ${parameters.join(", ")}`;
}

/**
 * The well-formed challenges of a header WWW-Authenticate, of all methods, in their order. Those that are malformed are
 * left out, as clients cannot answer them.
 *
 * @param value its lines joined with commas, as `Headers.get` returns them
 */
export function parseChallenges(value: string): readonly MppChallenge[] {
  return paymentSchemes([value]).flatMap((scheme) => {
    try {
      if (scheme.rest.join(", ").length > MAX_CHALLENGE_LENGTH) return [];
      const parameters = Object.fromEntries(parametersOf(scheme, "MPP_CHALLENGE_INVALID"));
      return [assertChallenge(parameters, "MPP_CHALLENGE_INVALID")];
    } catch {
      return [];
    }
  });
}

/** Whether a challenge asks for a sotto payment. */
export const isCharge = ({ method, intent }: Pick<MppChallenge, "method" | "intent">): boolean =>
  method === MPP_METHOD && intent === MPP_INTENT;

/**
 * The text whose HMAC with the server's secret is the challenge's id: seven values, empty for those that are absent. mppx
 * inserts the name of the credential's header if there is one.
 */
export function challengeBinding(challenge: Omit<MppChallenge, "id">): string {
  const { realm, method, intent, request, expires = "", digest = "", opaque = "", header } = challenge;
  return [realm, method, intent, request, expires, digest, ...(header === undefined ? [] : [header]), opaque].join("|");
}
