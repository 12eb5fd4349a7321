// Reads the request header of a token, once for each request. `decodePrepaidHeader` runs on every platform, and takes four
// times as long as Node's own decoders.
import { PREPAID_TOKEN_LAYOUT } from "../index.ts";

/** The part of a token that the paywall reads itself; the thread that verifies the token reads the rest. */
export interface ShownToken {
  /** The header's value: the whole token. */
  readonly header: string;
  /** base64url, 43 characters. */
  readonly nonce: string;
  /** Hex with 0x. */
  readonly challengeDigest: string;
  /** Hex with 0x. */
  readonly keyId: string;
}

const { nonce, challengeDigest, keyId, signature, end } = PREPAID_TOKEN_LAYOUT;
const TYPE = 2;
const HEADER_LENGTH = (end * 4) / 3;
const bytes = Buffer.alloc(end);

/** @returns undefined if the value is not that of a token. Does not check the signature */
export function readToken(header: string): ShownToken | undefined {
  if (header.length !== HEADER_LENGTH) return undefined;
  bytes.write(header, "base64url");
  // Node also decodes other alphabets and skips unknown characters, and a token must have only one spelling.
  if (bytes.toString("base64url") !== header || bytes.readUInt16BE() !== TYPE) return undefined;
  return {
    header,
    nonce: bytes.toString("base64url", nonce, challengeDigest),
    challengeDigest: `0x${bytes.toString("hex", challengeDigest, keyId)}`,
    keyId: `0x${bytes.toString("hex", keyId, signature)}`,
  };
}
