// The headers WWW-Authenticate and Authorization (RFC 9110, 11): lists of schemes, each with parameters or one token.
import { type MppErrorCode, refuse } from "./errors.ts";

/** The authentication scheme of MPP. */
export const PAYMENT_SCHEME = "Payment";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(`^(${TOKEN})[\\t ]*=[\\t ]*(.*)$`, "s");
const SCHEME = new RegExp(`^(${TOKEN})(?:[\\t ]+(.*))?$`, "s");

/** One scheme of a header with what follows it. */
export interface AuthScheme {
  readonly scheme: string;
  /** Its parameters, or its single token, without the white space around them. */
  readonly rest: readonly string[];
}

/** Splits a list at its commas, but not inside quoted texts. Empty elements are left out, as RFC 9110 demands. */
function elementsOf(value: string): string[] {
  const elements: string[] = [];
  let start = 0;
  let quoted = false;
  for (let i = 0; i <= value.length; i += 1) {
    if (quoted && value[i] === "\\") i += 1;
    else if (value[i] === '"') quoted = !quoted;
    else if (i === value.length || (value[i] === "," && !quoted)) {
      elements.push(value.slice(start, i).trim());
      start = i + 1;
    }
  }
  // A quoted text without an end reaches the end of the header.
  if (start < value.length && elements.at(-1) !== value.slice(start).trim()) elements.push(value.slice(start).trim());
  return elements.filter((element) => element !== "");
}

/**
 * The schemes of a header. A scheme begins where an element is not a parameter of the scheme before it.
 * @param values the header's lines
 */
export function authSchemes(values: readonly string[]): readonly AuthScheme[] {
  const found: { scheme: string; rest: string[] }[] = [];
  for (const element of values.flatMap(elementsOf)) {
    const last = found.at(-1);
    if (last !== undefined && PARAMETER.test(element)) last.rest.push(element);
    else {
      const [, scheme = "", first] = SCHEME.exec(element) ?? [];
      found.push({ scheme, rest: first === undefined ? [] : [first] });
    }
  }
  return found;
}

/** The parts of a header that have the scheme of MPP. */
export const paymentSchemes = (values: readonly string[]): readonly AuthScheme[] =>
  authSchemes(values).filter(({ scheme }) => scheme.toLowerCase() === PAYMENT_SCHEME.toLowerCase());

/** A parameter's text: quoted, with the characters that no header can carry as \uXXXX, as mppx writes them. */
export function quotedParameter(name: string, value: string): string {
  const escaped = value
    .replace(/["\\]/g, "\\$&")
    .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `${name}="${escaped}"`;
}

function unquoted(value: string): string | undefined {
  if (!value.startsWith('"')) return new RegExp(`^${TOKEN}$`).test(value) ? value : undefined;
  const text = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)?.[1];
  return text?.replace(/\\(?:u([0-9A-Fa-f]{4})|(.))/gs, (_, code: string | undefined, one: string) =>
    code === undefined ? one : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/**
 * The parameters of a scheme by their names in lower case.
 * @throws MppError with the code if one is malformed or repeated
 */
export function parametersOf({ rest }: AuthScheme, code: MppErrorCode): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const element of rest) {
    const [, name = "", text = ""] = PARAMETER.exec(element) ?? [];
    const key = name.toLowerCase();
    const value = name === "" ? undefined : unquoted(text);
    if (value === undefined) refuse(code, "a parameter of the scheme Payment is malformed");
    if (parameters.has(key)) refuse(code, `the parameter ${key} is repeated`);
    parameters.set(key, value);
  }
  return parameters;
}
