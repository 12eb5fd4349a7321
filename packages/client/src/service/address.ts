import { ServiceError } from "./errors.ts";

const MAX_LENGTH = 2_048;

/**
 * A base address in its one form: scheme, host and path as the URL standard writes them, no slash at the end.
 * @throws ServiceError SERVICE_NOT_ALLOWED for what is no http(s) URL, or has a user, a query or a fragment
 */
export function normaliseServiceUrl(url: unknown): string {
  const parsed = typeof url === "string" && url.length <= MAX_LENGTH && URL.canParse(url) ? new URL(url) : undefined;
  const plain =
    parsed !== undefined &&
    /^https?:$/.test(parsed.protocol) &&
    [parsed.username, parsed.password, parsed.search, parsed.hash].every((part) => part === "");
  if (!plain)
    throw new ServiceError(
      "SERVICE_NOT_ALLOWED",
      "a service's address is an http(s) URL such as https://pay.example/zk",
    );
  return parsed.origin + parsed.pathname.replace(/\/+$/, "");
}

/** @throws ServiceError SERVICE_NOT_ALLOWED */
export function requireAllowed(url: string, allow: readonly string[]): void {
  if (allow.map(normaliseServiceUrl).includes(url)) return;
  throw new ServiceError("SERVICE_NOT_ALLOWED", `the service ${url} is not one of those that are allowed`, { url });
}
