import { quoted } from "@sotto/protocol";

const MAX_URL_CHARS = 256;

/** A URL that the resource server names, for an error's details. */
export const quotedUrl = (url: string): string => quoted(url, MAX_URL_CHARS);

/** For a message: the origin of a URL, or only the length of another text. */
export function originOf(url: string): string {
  const origin = URL.canParse(url) ? new URL(url).origin : "null";
  return origin === "null" ? `a string of ${url.length} characters` : quotedUrl(origin);
}
