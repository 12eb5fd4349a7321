import { proverError } from "../errors.ts";

/**
 * SHA-256 as 64 lower-case hex digits.
 *
 * @throws SottoError ARTIFACTS_SOURCE_INVALID without WebCrypto
 */
export async function sha256(bytes: Uint8Array): Promise<string> {
  // Pages loaded without HTTPS have no crypto.subtle, except from localhost.
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) {
    throw proverError(
      "ARTIFACTS_SOURCE_INVALID",
      "Artifacts cannot be checked here: WebCrypto needs a secure context.",
    );
  }
  const digest = await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
