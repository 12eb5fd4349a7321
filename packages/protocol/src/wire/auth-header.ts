// The headers WWW-Authenticate and Authorization (RFC 9110, 11): lists of schemes, each with parameters or one token.

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(`^${TOKEN}[\\t ]*=`);
const SCHEME = new RegExp(`^(${TOKEN})(?:[\\t ]+(.*))?$`, "s");

/** One scheme of a header, with what follows it. */
export interface AuthScheme {
  /** Its name as it was sent, in any case; empty if the header is malformed here. */
  readonly scheme: string;
  /** Its parameters, or its single token, without the white space around them. */
  readonly rest: readonly string[];
  /** All of it, as it was sent. */
  readonly text: string;
}

/** An element of a list, without the white space around it. */
interface ListElement {
  readonly text: string;
  readonly start: number;
}

/** Splits a list at its commas, but not inside quoted texts. Leaves out empty elements, as RFC 9110 demands. */
function elementsOf(value: string): ListElement[] {
  const elements: ListElement[] = [];
  let start = 0;
  let quoted = false;
  const add = (end: number) => {
    const text = value.slice(start, end).trim();
    if (text !== "") elements.push({ text, start: value.indexOf(text, start) });
    start = end + 1;
  };
  for (let i = 0; i < value.length; i += 1) {
    if (quoted && value[i] === "\\") i += 1;
    else if (value[i] === '"') quoted = !quoted;
    else if (value[i] === "," && !quoted) add(i);
  }
  // A quoted text without an end reaches the end of the header.
  add(value.length);
  return elements;
}

/**
 * The schemes of a header. A scheme begins at each element that is not a parameter of the scheme before it.
 * @param values the header's lines, which may be joined with commas
 */
export function authSchemes(values: readonly string[]): readonly AuthScheme[] {
  const found: { scheme: string; rest: string[]; text: string }[] = [];
  for (const value of values) {
    let begin = 0;
    for (const [i, { text, start }] of elementsOf(value).entries()) {
      const last = found.at(-1);
      // Each line begins with a scheme.
      if (i > 0 && last !== undefined && PARAMETER.test(text)) {
        last.rest.push(text);
        last.text = value.slice(begin, start + text.length);
      } else {
        const [, scheme = "", first] = SCHEME.exec(text) ?? [];
        found.push({ scheme, rest: first === undefined ? [] : [first], text });
        begin = start;
      }
    }
  }
  return found;
}

/** Whether a scheme has this name, in any case. */
export const isAuthScheme = ({ scheme }: AuthScheme, name: string): boolean =>
  scheme.toLowerCase() === name.toLowerCase();
