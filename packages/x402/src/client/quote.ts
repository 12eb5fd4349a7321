const MAX_QUOTED_CHARS = 256;

/** A text of the resource server on one line of at most 256 printable characters. */
export function quote(text: string): string {
  // Far more than is shown, because runs of other characters become one space.
  const line = text.slice(0, 4 * MAX_QUOTED_CHARS).replaceAll(/[^\x21-\x7e]+/g, " ");
  return line.trim().slice(0, MAX_QUOTED_CHARS);
}

/** For a message: the origin of a URL, or only the length of another text. */
export function originText(url: string): string {
  const origin = URL.canParse(url) ? new URL(url).origin : "null";
  return origin === "null" ? `a string of ${url.length} characters` : quote(origin);
}
