import { createErrorClass } from "@sotto/protocol";
import type { SERVICE_CLIENT_ERRORS } from "../error-definitions.ts";

export type ServiceClientErrorCode = keyof typeof SERVICE_CLIENT_ERRORS;

/** An error of `SottoService`. No message repeats a token or the contents of a request. */
export const ServiceClientError = /* @__PURE__ */ createErrorClass<typeof SERVICE_CLIENT_ERRORS>("ServiceClientError");
export type ServiceClientError = InstanceType<typeof ServiceClientError>;

/** A text of the other side, made safe for an error message: one line of printable characters, truncated. */
export function quoted(value: unknown, most = 200): string {
  if (typeof value !== "string") return "";
  const line = value.replaceAll(/[^\x21-\x7e\u00a1-\ud7ff]+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)}..` : line;
}
