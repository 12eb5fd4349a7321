import { proverError } from "../errors.ts";

/** The part of node:crypto that is used here. */
interface Hash {
  update(bytes: Uint8Array): Hash;
  digest(encoding: "hex"): string;
}

interface WithCrypto {
  readonly process?: {
    getBuiltinModule?(name: "node:crypto"): { createHash(algorithm: "sha256"): Hash } | undefined;
  };
}

/** SHA-256 as 64 lower-case hex digits. @throws SottoError ARTIFACTS_SOURCE_INVALID without WebCrypto */
export async function sha256(bytes: Uint8Array): Promise<string> {
  // WebCrypto first copies the bytes, which takes Node longer than hashing them.
  const node = (globalThis as WithCrypto).process?.getBuiltinModule?.("node:crypto");
  if (node !== undefined) return node.createHash("sha256").update(bytes).digest("hex");
  // Pages loaded without HTTPS have no crypto.subtle, except from localhost.
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined)
    throw proverError(
      "ARTIFACTS_SOURCE_INVALID",
      "Artifacts cannot be checked here: WebCrypto needs a secure context.",
    );
  const digest = await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
