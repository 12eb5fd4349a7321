import { MAX_URL_LENGTH } from "../object-fields.ts";
import { invisibleCharacter, trimPasted } from "../pasted.ts";

type Part = "protocol" | "hostname" | "origin" | "pathname" | "username" | "password" | "search" | "hash";

/** The part of the standard's URL class that is used. Every platform has it, but ECMAScript's types lack it. */
interface UrlApi {
  new (text: string): Readonly<Record<Part, string>>;
  canParse(text: string): boolean;
}

/** The parts of a URL. @returns undefined if `address` is not a URL or is too long */
export function urlOf(address: unknown): Readonly<Record<Part, string>> | undefined {
  const { URL } = globalThis as unknown as { URL: UrlApi };
  if (typeof address !== "string" || address.length > MAX_URL_LENGTH || !URL.canParse(address)) return undefined;
  return new URL(address);
}

/**
 * A server's base URL in canonical form, so that different spellings of it compare equal: scheme, host and path as the
 * URL standard writes them, no slash at the end. Spaces and invisible characters around it are ignored.
 * @returns undefined if `address` is not an http(s) URL, is too long, has a user, a query or a fragment, or an invisible
 *   character, which the URL standard would drop or encode
 */
export function baseUrl(address: unknown): string | undefined {
  const text = typeof address === "string" ? trimPasted(address) : "";
  const url = invisibleCharacter(text) === undefined ? urlOf(text) : undefined;
  if (url === undefined) return undefined;
  const { protocol, origin, pathname, username, password, search, hash } = url;
  if (!/^https?:$/.test(protocol) || [username, password, search, hash].some((part) => part !== "")) return undefined;
  return origin + pathname.replace(/\/+$/, "");
}
