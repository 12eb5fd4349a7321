import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { SottoError } from "@sotto/protocol";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError, type ServiceErrorCode } from "../errors/errors.ts";
import { isUnavailable } from "../store/errors.ts";
import { RETRY_AFTER_SECONDS, statusOf } from "./status.ts";

export interface ErrorAnswer {
  readonly error: string;
  readonly message: string;
  readonly code: string;
}

/** Errors of the framework, as ours. */
const FRAMEWORK: Readonly<Record<string, readonly [ServiceErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["UNSUPPORTED_MEDIA_TYPE", "the body must be sent as application/json"],
  FST_ERR_CTP_BODY_TOO_LARGE: ["BODY_TOO_LARGE", "the body is too large"],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["INVALID_JSON", "the body is empty"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ["INVALID_REQUEST", "the body is not as long as Content-Length says"],
  FST_ERR_BAD_URL: ["INVALID_REQUEST", "the path is not a valid URL path"],
  FST_ERR_MAX_PARAM_LENGTH: ["NOT_FOUND", "there is nothing at this path"],
};

export function answerOf(code: string, message: string): ErrorAnswer {
  return { error: STATUS_CODES[statusOf(code)] ?? "Error", message, code };
}

/** What a client is told about an error. Nothing of one that is the service's own fault. */
export function toAnswer(error: unknown): { status: number; answer: ErrorAnswer } {
  const { code, message } = asServiceError(error);
  const status = statusOf(code);
  if (status === 500)
    return { status, answer: answerOf("INTERNAL", "the service failed; the request id names the log entry") };
  return { status, answer: answerOf(code, message) };
}

function asServiceError(error: unknown): { code: string; message: string } {
  if (error instanceof SottoError) return error;
  // Of the database's driver, wherever it comes up.
  if (isUnavailable(error)) return { code: "STORE_UNAVAILABLE", message: "the service's store is away; try again" };
  const { code = "", validation, validationContext, statusCode } = (error ?? {}) as Partial<FastifyError>;
  if (validation?.[0] !== undefined) {
    const { instancePath, message = "is not valid", params } = validation[0];
    const place = `${validationContext ?? "body"}${instancePath.replaceAll("/", ".")}`;
    const allowed = params["allowedValues"] === undefined ? "" : `: ${String(params["allowedValues"])}`;
    return { code: "INVALID_REQUEST", message: `${place} ${message}${allowed}` };
  }
  const known = FRAMEWORK[code];
  if (known !== undefined) return { code: known[0], message: known[1] };
  // Of the framework and without secrets, but of no kind we know: what is wrong with the request is all there is to say.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return { code: "INVALID_REQUEST", message: "the request cannot be read" };
  return { code: "INTERNAL", message: "" };
}

export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, answer } = toAnswer(error);
  if (status >= 500) request.log.error({ err: error, route: request.routeOptions.url }, "request failed");
  const { resetAt } = error instanceof ServiceError ? error.details : {};
  const retryAfter = typeof resetAt === "number" ? Math.max(1, Math.ceil((resetAt - Date.now()) / 1000)) : undefined;
  const seconds = retryAfter ?? RETRY_AFTER_SECONDS[status];
  if (seconds !== undefined) reply.header("retry-after", seconds);
  return reply.code(status).header("cache-control", "no-store").type("application/json; charset=utf-8").send(answer);
}

/** What is no HTTP request at all never reaches a route: Node's parser says what is wrong, and the connection ends. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = clientErrorOf(error.code);
  const body = JSON.stringify(answerOf(code, message));
  const status = statusOf(code);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function clientErrorOf(code: string | undefined): readonly [ServiceErrorCode, string] {
  if (code === "HPE_HEADER_OVERFLOW") return ["HEADERS_TOO_LARGE", "the headers are too large"];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return ["REQUEST_TIMEOUT", "the request took too long to arrive"];
  return ["INVALID_REQUEST", "this is not an HTTP request"];
}
