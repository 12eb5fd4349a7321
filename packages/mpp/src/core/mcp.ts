// MPP in MCP: a challenge and a credential are JSON objects there, whose request is JSON too.
import { assertChallenge, type MppChallenge } from "./challenge.ts";
import type { MppCredential } from "./credential.ts";
import { reading, refuse } from "./errors.ts";
import { canonicalJson, decodeText, encodeJson, fieldOf, type Json, parseJson, recordOf } from "./json.ts";

/** JSON-RPC error of a call that has to be paid; its data has the challenges. */
export const MCP_PAYMENT_REQUIRED = -32_042;
/** JSON-RPC error of a call whose credential is refused, as mppx sends it. */
export const MCP_VERIFICATION_FAILED = -32_043;
/** Key in `_meta` of a call: the credential. */
export const MCP_CREDENTIAL_KEY = "org.paymentauth/credential";
/** Key in `_meta` of a result: the receipt. */
export const MCP_RECEIPT_KEY = "org.paymentauth/receipt";

/** Maximum characters of a challenge or credential as JSON. */
const MAX_LENGTH = 32_768;
const MAX_CHALLENGES = 16;

/** A challenge as an object of MCP. @throws MppError MPP_CHALLENGE_INVALID */
export function challengeToMcp(challenge: MppChallenge): Json {
  const request = decodeText(challenge.request, "the request", "MPP_CHALLENGE_INVALID");
  return { ...challenge, request: parseJson(request, "the request", "MPP_CHALLENGE_INVALID") };
}

/** The well-formed challenges in the data of an error of MCP, in their order. */
export function challengesFromMcp(data: unknown): readonly MppChallenge[] {
  const { challenges } = Object(data) as { readonly challenges?: unknown };
  if (!Array.isArray(challenges)) return [];
  return challenges.slice(0, MAX_CHALLENGES).flatMap((one: unknown) => {
    try {
      return [challengeFromMcp(one, "MPP_CHALLENGE_INVALID")];
    } catch {
      return [];
    }
  });
}

/** A credential as an object of MCP. */
export const credentialToMcp = ({ challenge, payload, source }: MppCredential): Json => ({
  challenge: challengeToMcp(challenge),
  payload,
  ...(source === undefined ? {} : { source }),
});

/** Parses a credential of MCP. Nothing in it is verified. @throws MppError MPP_CREDENTIAL_INVALID */
export function credentialFromMcp(value: unknown): MppCredential {
  const code = "MPP_CREDENTIAL_INVALID";
  const json = recordOf(value, "the credential", code);
  return {
    challenge: challengeFromMcp(fieldOf(json, "challenge"), code),
    payload: recordOf(fieldOf(json, "payload"), "payload", code),
  };
}

function challengeFromMcp(value: unknown, code: "MPP_CHALLENGE_INVALID" | "MPP_CREDENTIAL_INVALID"): MppChallenge {
  const json = recordOf(value, "challenge", code);
  return reading(code, () => {
    const text = JSON.stringify(json);
    if (text.length > MAX_LENGTH)
      refuse(code, `the challenge has ${text.length} characters, at most ${MAX_LENGTH} are read`);
    // The same checks as for a header: no key twice, no deep nesting.
    const checked = parseJson(text, "challenge", code);
    const request = encodeJson(recordOf(fieldOf(checked, "request"), "request", code), canonicalJson);
    return assertChallenge({ ...checked, request }, code);
  });
}
