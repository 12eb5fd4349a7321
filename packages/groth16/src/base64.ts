interface WithNode {
  readonly Buffer?: { from(text: string, encoding: "base64"): Uint8Array } | undefined;
}

/** Decodes base64 that is part of the program. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // The loop below runs once: V8 optimizes it too late, which takes Node longer than all else here.
  const buffer = (globalThis as WithNode).Buffer?.from(text, "base64");
  if (buffer !== undefined) return new Uint8Array(buffer);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
