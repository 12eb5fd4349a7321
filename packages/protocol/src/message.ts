/** A text in a message that comes from another party, such as a server. A program that shows messages to a model marks it. */
export interface ForeignText {
  /** The text: one line of bounded length. */
  readonly foreign: string;
}

/** A piece of a message: our own words, or a text of another party. */
export type MessagePart = string | ForeignText;

/** What a message can contain: values of our own, texts of another party, and messages. */
type MessageValue = string | number | bigint | ForeignText | { readonly parts: readonly MessagePart[] };

/** Composes a message that remembers which of its parts are texts of another party. Never throws: it describes errors. */
export function message(words: TemplateStringsArray, ...values: readonly MessageValue[]): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  const pieces: readonly string[] = Array.isArray(words) ? words : [String(words)];
  pieces.forEach((own, index) => {
    parts.push(own);
    const value = values[index];
    if (value === undefined) return;
    if (typeof value !== "object" || value === null) parts.push(String(value));
    else if ("parts" in value) parts.push(...value.parts);
    else parts.push(value);
  });
  return parts;
}

/**
 * Splits a stored message that ends with a text of another party.
 * @param reason the text of the other party; "" if there is none
 */
export const endingWith = (stored: string, reason: string): readonly MessagePart[] => {
  // A store may contain values of other types.
  const [text, end] = [String(stored), String(reason)];
  return end !== "" && text.endsWith(end) ? [text.slice(0, -end.length), { foreign: end }] : [text];
};

/** Joins pieces of our own that follow each other, so that none ends within a word or an amount. */
export function joinOwn(parts: readonly MessagePart[]): readonly MessagePart[] {
  const joined: MessagePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

/** The whole message, for people. */
export const plainText = (parts: readonly MessagePart[]): string =>
  parts.map((part) => (typeof part === "string" ? part : part.foreign)).join("");
