import { baseUrl, isSecureUrl } from "@sotto/protocol";
import { ServiceClientError } from "./errors.ts";

/** Normalizes a service's base URL. @throws ServiceClientError SERVICE_NOT_ALLOWED */
export function normalizeServiceUrl(service: unknown): string {
  const url = baseUrl(service);
  if (url !== undefined) return url;
  throw new ServiceClientError(
    "SERVICE_NOT_ALLOWED",
    "a service's base URL must be an http(s) URL such as https://pay.example/zk",
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
  const message = `the service ${url} is not an https URL; anyone on the network could read and change the requests`;
  throw new ServiceClientError("SERVICE_NOT_SECURE", message, { url });
}
