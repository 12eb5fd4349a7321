import { type ErrorDetails, SottoError } from "@sotto/protocol";

/** Codes that every server of sotto has. Stable: clients switch on them. Each has its status in http/status.ts. */
export type ServerErrorCode =
  // What came in
  | "INVALID_REQUEST"
  | "INVALID_JSON"
  | "DUPLICATE_KEY"
  | "FORBIDDEN_KEY"
  | "NESTED_TOO_DEEPLY"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "BODY_TOO_LARGE"
  | "HEADERS_TOO_LARGE"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "REQUEST_TIMEOUT"
  // Limits
  | "RATE_LIMITED"
  | "OVERLOADED"
  // The server
  | "SHUTTING_DOWN"
  | "INTERNAL"
  // Starting
  | "INVALID_CONFIG"
  | "PORT_UNAVAILABLE";

export class ServerError extends SottoError {
  override readonly name = "ServerError";
  declare readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string, details?: ErrorDetails, options?: { cause?: unknown }) {
    super(code, message, details, options);
  }
}
