// Text that people paste: chats, contacts and web pages add characters to it that nobody sees.

/** Names of the invisible characters that pasted text usually contains, as Unicode has them. */
const NAMES: Readonly<Record<string, string>> = {
  "0009": "tab",
  "000A": "line feed",
  "000D": "carriage return",
  "00A0": "no-break space",
  "00AD": "soft hyphen",
  "061C": "Arabic letter mark",
  "200B": "zero width space",
  "200C": "zero width non-joiner",
  "200D": "zero width joiner",
  "200E": "left-to-right mark",
  "200F": "right-to-left mark",
  "202A": "left-to-right embedding",
  "202B": "right-to-left embedding",
  "202C": "pop directional formatting",
  "202D": "left-to-right override",
  "202E": "right-to-left override",
  "202F": "narrow no-break space",
  "2060": "word joiner",
  "2066": "left-to-right isolate",
  "2067": "right-to-left isolate",
  "2068": "first strong isolate",
  "2069": "pop directional isolate",
  FEFF: "zero width no-break space, also the byte order mark",
};

/**
 * Spaces, and invisible characters that leave the order of the others as it is. Marks that turn text from right to left
 * are not among them: a reader may have seen the digits in a different order than a program reads them.
 */
const EDGE = /[\s\u00ad\u200b-\u200e\u202a\u202c\u202d\u2060\u2066\u2068\u2069\ufeff]/u;
/** Characters that are neither visible nor an ASCII space. */
const INVISIBLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|\p{Default_Ignorable_Code_Point}/u;
/** The separators of phone numbers: spaces of any width, brackets, dots, slashes, hyphens; and EDGE's invisible characters. */
const SEPARATORS = /[\p{Zs}().\-/\u2010-\u2012\u00ad\u200b-\u200e\u202a\u202c\u202d\u2060\u2066\u2068\u2069\ufeff]/gu;
/** A text is described by its beginning, because another party may have sent megabytes. */
const MAX_EXAMINED = 4096;

/**
 * Removes spaces and invisible characters from both ends of a text that a person typed or pasted. Keeps everything
 * between the ends, and keeps marks that make text run from right to left, so that the parser called next refuses them.
 */
export function trimPasted(text: string): string {
  // The parser that follows refuses it.
  if (typeof text !== "string") return text;
  let start = 0;
  let end = text.length;
  while (start < end && EDGE.test(text[start]!)) start += 1;
  while (end > start && EDGE.test(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

/**
 * Removes what people and programs write between the digits of a phone number. Letters, digits of other scripts and
 * marks that turn text from right to left stay, so that the parser that follows refuses them; `invisible` names the
 * first of them that nobody sees.
 */
export function phoneDigits(written: string): { digits: string; invisible: string | undefined } {
  if (typeof written !== "string") return { digits: "", invisible: undefined };
  return {
    digits: written.replaceAll(SEPARATORS, ""),
    invisible: invisibleCharacter(written.replaceAll(SEPARATORS, "-")),
  };
}

/**
 * Names the first invisible character of a text and its position, such as `U+200B (zero width space) at character 3`;
 * undefined if there is none. An error message may contain the result even if the text is secret.
 */
export function invisibleCharacter(text: string): string | undefined {
  if (typeof text !== "string") return undefined;
  const at = text.slice(0, MAX_EXAMINED).search(INVISIBLE);
  if (at < 0) return undefined;
  const code = text.codePointAt(at)!.toString(16).toUpperCase().padStart(4, "0");
  const name = NAMES[code];
  return `U+${code}${name === undefined ? "" : ` (${name})`} at character ${at + 1}`;
}
