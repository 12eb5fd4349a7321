import { baseUrl } from "@sotto/protocol";
import { X402SchemeError } from "./errors.ts";

/** A service's base address in its one form. @throws X402SchemeError X402_OPTION_INVALID */
export function serviceAddress(address: unknown): string {
  const url = baseUrl(address);
  if (url !== undefined) return url;
  throw new X402SchemeError(
    "X402_OPTION_INVALID",
    "a service's address is an http(s) URL such as https://pay.example/zk",
  );
}
