import { baseUrl, isSecureUrl } from "@sotto/protocol";
import { ServiceClientError } from "./errors.ts";

/** Normalizes a service's base address. @throws ServiceClientError SERVICE_NOT_ALLOWED */
export function normalizeServiceUrl(address: unknown): string {
  const url = baseUrl(address);
  if (url !== undefined) return url;
  throw new ServiceClientError(
    "SERVICE_NOT_ALLOWED",
    "a service's address must be an http(s) URL such as https://pay.example/zk",
  );
}

/** @throws ServiceClientError SERVICE_NOT_ALLOWED */
export function assertServiceAllowed(url: string, allow: readonly string[]): void {
  if (allow.map(normalizeServiceUrl).includes(url)) return;
  throw new ServiceClientError("SERVICE_NOT_ALLOWED", `the service ${url} is not among the allowed services`, { url });
}

/** @throws ServiceClientError SERVICE_NOT_SECURE */
export function assertServiceSecure(url: string, chainId: bigint | undefined): void {
  if (isSecureUrl(url, chainId)) return;
  const message = `the service ${url} is not an https address; anyone on the network could read and change the requests`;
  throw new ServiceClientError("SERVICE_NOT_SECURE", message, { url });
}
