import { type EthCall, normalizeSignature, verifyWalletSignature } from "@sotto/protocol";
import { assertObject, recode } from "@sotto/protocol/extend";
import { exactFields } from "./fields.ts";
import {
  decodeMeteredTerms,
  encodeMeteredTerms,
  type MeteredTerms,
  meteredTermsDigest,
  type WireMeteredTerms,
} from "./terms.ts";

/** Maximum size of signed terms as JSON, bytes. */
export const MAX_SIGNED_TERMS_BYTES = 256 * 1024;

/** Terms with their wallet's signature over `meteredTermsTypedData`. */
export interface SignedMeteredTerms {
  /** The terms that the signature is of. */
  readonly terms: MeteredTerms;
  /** 1 to 8,192 bytes, lower-case hex with 0x. */
  readonly signature: string;
}

/** Signed terms as JSON. */
export interface WireSignedMeteredTerms {
  /** The terms that the signature is of. */
  readonly terms: WireMeteredTerms;
  /** The wallet's signature, 1 to 8,192 bytes, lower-case hex with 0x. */
  readonly signature: string;
}

/** Signed terms for JSON. @throws SottoError INVALID_ARGUMENT */
export const encodeSignedTerms = (signed: SignedMeteredTerms): WireSignedMeteredTerms =>
  recode("INVALID_ARGUMENT", "not signed terms", () => {
    assertObject(signed, "signed terms");
    return { terms: encodeMeteredTerms(signed.terms), signature: normalizeSignature(signed.signature) };
  });

/**
 * Inverse of `encodeSignedTerms`, for terms from another party. Does not check the signature: see `verifyTermsSignature`.
 * @param wire the parsed JSON; limit its text to MAX_SIGNED_TERMS_BYTES before parsing it
 * @throws SottoError INVALID_ARGUMENT
 */
export const decodeSignedTerms = (wire: unknown): SignedMeteredTerms =>
  recode("INVALID_ARGUMENT", "not signed terms", () => {
    const { terms, signature } = exactFields(wire, ["terms", "signature"], "signed terms");
    return { terms: decodeMeteredTerms(terms), signature: normalizeSignature(signature) };
  });

/**
 * Whether the merchant's wallet signed the terms. The caller must make sure that `call` asks a node of the terms' chain.
 * @throws SottoError INVALID_ARGUMENT, BINDING_SIGNATURE_INVALID; BINDING_UNCHECKED if the node gives no valid answer
 */
export async function verifyTermsSignature(signed: SignedMeteredTerms, call: EthCall): Promise<boolean> {
  assertObject(signed, "signed terms");
  const digest = meteredTermsDigest(signed.terms);
  return verifyWalletSignature(signed.terms.wallet, digest, signed.signature, call);
}
