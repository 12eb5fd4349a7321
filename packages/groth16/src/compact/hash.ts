import { groth16Error } from "../errors.ts";

/** The part of Node that is used here, declared so that this package compiles without Node's types. */
interface WithNode {
  readonly process?: {
    getBuiltinModule?(
      name: "node:crypto",
    ): { createHash(name: "sha256"): { update(bytes: Uint8Array): { digest(): Uint8Array } } } | undefined;
  };
}

/**
 * @param bytes in a page, not in a SharedArrayBuffer
 * @throws Groth16Error COMPACT_KEY_UNSUPPORTED
 */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  const node = (globalThis as WithNode).process?.getBuiltinModule?.("node:crypto");
  if (node !== undefined) return new Uint8Array(node.createHash("sha256").update(bytes).digest());
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) {
    const message =
      "This page cannot check a compact proving key, because it was loaded neither over HTTPS nor from localhost: use the .zkey file.";
    throw groth16Error("COMPACT_KEY_UNSUPPORTED", message);
  }
  return new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}
