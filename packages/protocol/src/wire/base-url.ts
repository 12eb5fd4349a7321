import { MAX_URL_LENGTH } from "../fields.ts";

type Part = "protocol" | "hostname" | "origin" | "pathname" | "username" | "password" | "search" | "hash";

/** The URL standard's class, which every platform has and no library of the language declares. */
interface UrlApi {
  new (text: string): Readonly<Record<Part, string>>;
  canParse(text: string): boolean;
}

/** @returns undefined for what is no URL, or too long */
export function urlOf(address: unknown): Readonly<Record<Part, string>> | undefined {
  const { URL } = globalThis as unknown as { URL: UrlApi };
  if (typeof address !== "string" || address.length > MAX_URL_LENGTH || !URL.canParse(address)) return undefined;
  return new URL(address);
}

/**
 * A server's base address in its one form, so that two spellings of it are equal: scheme, host and path as the URL
 * standard writes them, no slash at the end.
 * @returns undefined for what is no http(s) URL, is too long, or has a user, a query or a fragment
 */
export function baseUrl(address: unknown): string | undefined {
  const url = urlOf(address);
  if (url === undefined) return undefined;
  const { protocol, origin, pathname, username, password, search, hash } = url;
  if (!/^https?:$/.test(protocol) || [username, password, search, hash].some((part) => part !== "")) return undefined;
  return origin + pathname.replace(/\/+$/, "");
}
