/** The JSON of a header's base64. @throws Error of the runtime if it is neither */
export function decodeHeader(header: string): unknown {
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (letter) => letter.charCodeAt(0))));
}
