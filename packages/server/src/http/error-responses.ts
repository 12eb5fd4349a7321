import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type ErrorTable, SottoError } from "@sotto/protocol";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { ServerErrorCode } from "../errors.ts";

/** Seconds for `retry-after`, by status, for the statuses that ask the client to retry. */
const RETRY_AFTER_SECONDS: Readonly<Record<number, number>> = { 503: 5 };

/** The status of a code. A code that is not defined, or has no status, is a fault of the server: 500. */
export function statusOf(table: ErrorTable, code: string): number {
  return (Object.hasOwn(table, code) ? table[code]?.http : undefined) ?? 500;
}

/** The schema of an error's body. */
const ErrorBody = Type.Object(
  {
    error: Type.String({ description: "name of the HTTP status" }),
    message: Type.String({ description: "what was wrong, and what was expected" }),
    code: Type.String({ description: "stable, for programs" }),
  },
  { description: "Every error has this body" },
);
/** The body of an error. */
export type ErrorResponse = Readonly<Static<typeof ErrorBody>>;

/** Statuses of a route's error responses. */
export type ErrorStatus = 400 | 401 | 404 | 405 | 409 | 410 | 413 | 415 | 416 | 422 | 429 | 503;

/**
 * The error responses of a route, for its OpenAPI description: each status with its codes. The codes are not an enum,
 * because a later version may add some.
 */
export function errorResponses<T extends ErrorTable>(
  table: T,
  ...codes: readonly (keyof T & string)[]
): Record<ErrorStatus, typeof ErrorBody> {
  const statuses = [...new Set(codes.map((code) => statusOf(table, code)))];
  const responses = statuses.map((status) => {
    const names = codes.filter((code) => statusOf(table, code) === status).map((code) => `\`${code}\``);
    return [status, { ...ErrorBody, description: `${STATUS_CODES[status]}: ${names.join(", ")}` }];
  });
  return Object.fromEntries(responses);
}

/** Codes that any route may respond with. */
export const ROUTE_CODES = ["RATE_LIMITED", "OVERLOADED", "SHUTTING_DOWN"] as const;

/** Codes that any route with a body may respond with. */
export const BODY_CODES = [
  "INVALID_REQUEST",
  "INVALID_JSON",
  "DUPLICATE_KEY",
  "FORBIDDEN_KEY",
  "NESTED_TOO_DEEPLY",
  "METHOD_NOT_ALLOWED",
  "BODY_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  ...ROUTE_CODES,
] as const;

/** Codes and messages for errors that Fastify throws. */
const FRAMEWORK: Readonly<Record<string, readonly [ServerErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["UNSUPPORTED_MEDIA_TYPE", "the body must be sent as application/json"],
  FST_ERR_CTP_BODY_TOO_LARGE: ["BODY_TOO_LARGE", "the body is too large"],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["INVALID_JSON", "the body is empty"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["INVALID_REQUEST", "the length of the body differs from Content-Length"],
  FST_ERR_BAD_URL: ["INVALID_REQUEST", "the path is not a valid URL path"],
  FST_ERR_MAX_PARAM_LENGTH: ["NOT_FOUND", "there is no route at this path"],
};

/** The errors that a server answers with their own code. */
export interface ErrorHandlerOptions {
  /** The definitions of every code that a response may have. Any other code is a fault of the server: 500. */
  readonly errors: ErrorTable;
  /** Converts an error of a library (a database driver, for example); returns undefined for errors it does not know. */
  readonly translate?: ((error: unknown) => SottoError | undefined) | undefined;
}

export interface ErrorHandler {
  /** The status and body for an error. A fault of the server itself reveals nothing. */
  toResponse(error: unknown): { readonly status: number; readonly body: ErrorResponse };
  /** Fastify's error handler. */
  handle(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Answers input that Node's parser does not accept as HTTP, and closes the connection. No route sees such input. */
  handleClient(error: Error & { code?: string }, socket: Socket): void;
}

/** Answers errors with the body that all errors share. An error without an HTTP status gets 500 `INTERNAL`. */
export function errorHandler({ errors: table, translate = () => undefined }: ErrorHandlerOptions): ErrorHandler {
  const bodyOf = (code: string, message: string): ErrorResponse => ({
    error: STATUS_CODES[statusOf(table, code)] ?? "Error",
    message,
    code,
  });

  const toResponse: ErrorHandler["toResponse"] = (error) => {
    const { code, message } = error instanceof SottoError ? error : (translate(error) ?? ofFramework(error));
    const status = statusOf(table, code);
    if (status === 500)
      return { status, body: bodyOf("INTERNAL", "the service failed; the request id names the log entry") };
    return { status, body: bodyOf(code, message) };
  };

  return {
    toResponse,
    handle(error, request, reply) {
      const { status, body } = toResponse(error);
      if (status >= 500) request.log.error({ err: error, route: request.routeOptions.url }, "request failed");
      const seconds = retryAfterOf(error) ?? RETRY_AFTER_SECONDS[status];
      if (seconds !== undefined) reply.header("retry-after", seconds);
      // The error's message names the limit; this adds the time until it ends.
      const when = status === 429 && seconds !== undefined ? `; retry in ${inWords(seconds)}` : "";
      return reply
        .code(status)
        .header("cache-control", "no-store")
        .type("application/json; charset=utf-8")
        .send({ ...body, message: `${body.message}${when}` });
    },
    handleClient(error, socket) {
      if (error.code === "ECONNRESET" || !socket.writable) {
        socket.destroy();
        return;
      }
      const [code, message] = clientErrorOf(error.code);
      const body = JSON.stringify(bodyOf(code, message));
      const status = statusOf(table, code);
      const head = [
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
        "content-type: application/json; charset=utf-8",
        `content-length: ${Buffer.byteLength(body)}`,
        "connection: close",
      ];
      socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
    },
  };
}

/** Reads the time to retry from an error's details: `resetAt` is a time in ms, `retryAfter` a number of seconds. */
function retryAfterOf(error: unknown): number | undefined {
  const { resetAt, retryAfter } = error instanceof SottoError ? error.details : {};
  if (typeof resetAt === "number") return Math.max(1, Math.ceil((resetAt - Date.now()) / 1000));
  return typeof retryAfter === "number" ? Math.max(1, Math.ceil(retryAfter)) : undefined;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Rounds up, so that a client that waits this long does not retry too early. */
function inWords(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`;
  return seconds < 2 * HOUR ? `${Math.ceil(seconds / MINUTE)} min` : `${Math.ceil(seconds / HOUR)} h`;
}

function ofFramework(error: unknown): { code: ServerErrorCode; message: string } {
  const { code = "", validation, validationContext, statusCode } = (error ?? {}) as Partial<FastifyError>;
  if (validation?.[0] !== undefined) {
    const { instancePath, message = "is not valid", params } = validation[0];
    const place = `${validationContext ?? "body"}${instancePath.replaceAll("/", ".")}`;
    const allowed = params["allowedValues"] === undefined ? "" : `: ${String(params["allowedValues"])}`;
    return { code: "INVALID_REQUEST", message: `${place} ${message}${allowed}` };
  }
  const known = FRAMEWORK[code];
  if (known !== undefined) return { code: known[0], message: known[1] };
  // An unknown error of the framework, caused by the request.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { code: "INVALID_REQUEST", message: "the request cannot be read" };
  return { code: "INTERNAL", message: "" };
}

function clientErrorOf(code: string | undefined): readonly [ServerErrorCode, string] {
  if (code === "HPE_HEADER_OVERFLOW") return ["HEADERS_TOO_LARGE", "the headers are too large"];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return ["REQUEST_TIMEOUT", "the request took too long to arrive"];
  return ["INVALID_REQUEST", "this is not an HTTP request"];
}
