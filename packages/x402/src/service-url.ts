import { baseUrl, isSecureUrl } from "@sotto/protocol";
import { X402SchemeError } from "./errors.ts";

/**
 * Normalizes the base URL of a service.
 * @param chainId allows plain http on local chains; without it, plain http is for this machine only
 * @throws X402SchemeError X402_OPTION_INVALID
 */
export function normalizeServiceUrl(service: unknown, chainId?: bigint): string {
  const url = baseUrl(service);
  if (url !== undefined && isSecureUrl(url, chainId)) return url;
  throw new X402SchemeError(
    "X402_OPTION_INVALID",
    "a service's base URL must be an https URL such as https://pay.example/zk; " +
      "plain http is only for this machine and for local chains",
  );
}
