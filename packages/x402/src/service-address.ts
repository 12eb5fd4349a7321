import { baseUrl, isSecureUrl } from "@sotto/protocol";
import { X402SchemeError } from "./errors.ts";

/**
 * A service's base address in its one form.
 * @param chainId of what is paid there; left out: plain http leads to this machine alone
 * @throws X402SchemeError X402_OPTION_INVALID
 */
export function serviceAddress(address: unknown, chainId?: bigint): string {
  const url = baseUrl(address);
  if (url !== undefined && isSecureUrl(url, chainId)) return url;
  throw new X402SchemeError(
    "X402_OPTION_INVALID",
    "a service's address is an https URL such as https://pay.example/zk; http is for this machine and for local chains",
  );
}
