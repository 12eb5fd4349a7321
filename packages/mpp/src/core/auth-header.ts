// What MPP puts into the headers WWW-Authenticate and Authorization.
import { type AuthScheme, authSchemes, isAuthScheme } from "@sotto/protocol/extend";
import { type MppErrorCode, refuse } from "./errors.ts";

/** The authentication scheme of MPP. */
export const PAYMENT_SCHEME = "Payment";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(`^(${TOKEN})[\\t ]*=[\\t ]*(.*)$`, "s");

/** The parts of a header that have the scheme of MPP. */
export const paymentSchemes = (values: readonly string[]): readonly AuthScheme[] =>
  authSchemes(values).filter((scheme) => isAuthScheme(scheme, PAYMENT_SCHEME));

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
