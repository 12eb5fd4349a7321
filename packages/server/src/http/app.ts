import { randomUUID } from "node:crypto";
import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import swagger, { type SwaggerOptions } from "@fastify/swagger";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import underPressure from "@fastify/under-pressure";
import { networkOf, networksOf } from "@sotto/protocol";
import Fastify, { type FastifyBaseLogger, type FastifyRequest, LogController } from "fastify";
import type { ServerSettings } from "../config/server-settings.ts";
import { ServerError } from "../errors.ts";
import { NETWORK_GROWTH } from "../ops/client-id.ts";
import type { ServiceLog } from "../ops/log.ts";
import { type ErrorHandlerOptions, errorHandler } from "./error-responses.ts";
import { parseStrictJson } from "./json.ts";
import { watchMethods } from "./methods.ts";
import type { HttpMetrics } from "./metrics.ts";
import { NetworkCounts, type SharedCounts, sharedStore } from "./network-counts.ts";
import type { App } from "./types.ts";

const MAX_PATH_PARAMETER_LENGTH = 128;
const REQUEST_TIMEOUT_MS = 20_000;
/**
 * A connection without traffic for this long is closed: its client is gone, or requested a large file and does not read it.
 * Requests that wait for the chain are answered earlier.
 */
const IDLE_TIMEOUT_MS = 300_000;
/** TCP keep-alive, so that a NAT does not drop the connection of a request that waits for the chain. */
const PROBE_AFTER_MS = 15_000;
const MINUTE_MS = 60_000;

/** The settings of an HTTP server. */
export type AppConfig = Pick<ServerSettings, "trustProxy" | "bodyLimit" | "corsOrigins" | "rateLimit" | "latestLoopMs">;

/** The parts of an HTTP server. */
export interface AppOptions extends ErrorHandlerOptions {
  /** Limits of requests, and which origins and proxies are trusted. The rate limit is read for each request, so it may change. */
  readonly config: AppConfig;
  /** Receives one line for each response, and the errors of handlers. */
  readonly log: ServiceLog;
  /** Counts requests together with other replicas. Default: this one counts alone. */
  readonly shared?: SharedCounts | undefined;
  /** Receives the duration of each response. */
  readonly metrics: HttpMetrics;
  /** Options of @fastify/swagger, which makes the OpenAPI document from the schemas of the routes. */
  readonly openapi: SwaggerOptions;
  /** Additional headers that a web page's script may send and read. */
  readonly cors?: { readonly allow?: readonly string[]; readonly expose?: readonly string[] };
  /** Defines the routes. */
  readonly routes: (app: App) => void | Promise<void>;
}

/** Creates the HTTP server with everything that all routes share. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, log, metrics, routes } = options;
  const errorResponder = errorHandler(options);
  const app: App = Fastify({
    // Every log that createLog returns is a pino logger.
    loggerInstance: log as unknown as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // If clients could choose the id, they could write anything into the logs.
    requestIdHeader: false,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    bodyLimit: config.bodyLimit,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
    http: { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS },
    routerOptions: { maxParamLength: MAX_PATH_PARAMETER_LENGTH, ignoreTrailingSlash: false },
    forceCloseConnections: "idle",
    // `refuseWhileClosing` answers instead, in the format of all error bodies.
    return503OnClosing: false,
    // Nothing is converted or dropped silently: a number is not accepted as a string, and unknown fields stay.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
    clientErrorHandler: errorResponder.handleClient,
    frameworkErrors: (error, request, reply) => void errorResponder.handle(error, request, reply),
  }).withTypeProvider<TypeBoxTypeProvider>();
  addBodyParser(app);
  app.setErrorHandler(errorResponder.handle);
  refuseWhileClosing(app);
  refuseClosedConnections(app);
  refuseTwoHosts(app);
  warnOfIgnoredProxy(app, log);
  app.addHook("onResponse", async (request, reply) => {
    // The pattern, never the URL: paths and queries can contain personal data.
    const route = request.routeOptions.url ?? "none";
    const ms = Math.round(reply.elapsedTime);
    metrics.observe(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    request.log.info({ method: request.method, route, status: reply.statusCode, ms }, "request");
  });
  await protect(app, options);
  await app.register(swagger, options.openapi);
  const refuseOtherMethods = watchMethods(app);
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, () => {
    throw new ServerError("NOT_FOUND", "there is no route at this path; see openapi.json");
  });
  await app.register(async (scope) => routes(scope.withTypeProvider<TypeBoxTypeProvider>()));
  refuseOtherMethods();
  return app;
}

/** Warns once that a proxy is not configured. Only once, because any client can send the header. */
function warnOfIgnoredProxy(app: App, log: ServiceLog): void {
  let warned = false;
  app.addHook("onRequest", async (request) => {
    // More than one address means that the proxy is trusted.
    if (warned || request.headers["x-forwarded-for"] === undefined || (request.ips ?? []).length > 1) return;
    warned = true;
    const message =
      "ignored X-Forwarded-For of a sender that SOTTO_TRUST_PROXY does not list: all clients behind it share one rate limit";
    log.warn({ code: "FORWARDED_FOR_IGNORED" }, message);
  });
}

function refuseWhileClosing(app: App): void {
  let closing = false;
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    if (closing) throw new ServerError("SHUTTING_DOWN", "the service is shutting down; try again");
  });
  app.addHook("preClose", async () => {
    closing = true;
  });
  app.addHook("onSend", async (_request, reply) => {
    // A connection that is kept alive would keep the server from closing.
    if (closing) reply.header("connection", "close");
  });
}

/** A connection that closed before its address was read has none, so its requests cannot be counted. */
function refuseClosedConnections(app: App): void {
  app.addHook("onRequest", async (request) => {
    const ip: string | undefined = request.ip;
    if (ip === undefined) throw new ServerError("INVALID_REQUEST", "the connection is closed");
  });
}

/** Node takes the first Host header and a proxy perhaps the second (RFC 9112, 3.2: such a request is invalid). */
function refuseTwoHosts(app: App): void {
  app.addHook("onRequest", async ({ raw: { rawHeaders } }) => {
    const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host");
    if (hosts.length > 1) throw new ServerError("INVALID_REQUEST", "the request has more than one Host header");
  });
}

const ALLOWED_HEADERS = ["content-type", "range", "if-none-match", "if-range"];
const EXPOSED_HEADERS = ["x-request-id", "retry-after", "location", "etag", "content-range", "accept-ranges"];

async function protect(app: App, options: AppOptions): Promise<void> {
  const { config, shared, log, cors: { allow = [], expose = [] } = {} } = options;
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    crossOriginResourcePolicy: { policy: "cross-origin" },
  });
  await app.register(cors, {
    origin: config.corsOrigins.includes("*") ? "*" : [...config.corsOrigins],
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: [...ALLOWED_HEADERS, ...allow],
    exposedHeaders: [...EXPOSED_HEADERS, ...expose],
    maxAge: 86_400,
    // OPTIONS requests that are not preflights get the same response, not the plugin's error body.
    strictPreflight: false,
  });
  await app.register(rateLimit, {
    max: () => config.rateLimit,
    timeWindow: MINUTE_MS,
    ...(shared && { store: sharedStore(app, new NetworkCounts(shared, log)) }),
    keyGenerator: ({ ip }) => networkOf(ip),
    errorResponseBuilder: (_request, { max, ttl }) =>
      new ServerError("RATE_LIMITED", `rate limit exceeded: ${max} requests a minute for one address`, {
        resetAt: Date.now() + ttl,
      }),
  });
  limitNetworks(app, config);
  await app.register(underPressure, {
    // Proofs are verified in worker threads, so only requests can delay the event loop.
    maxEventLoopDelay: config.latestLoopMs,
    pressureHandler: ({ routeOptions }) => {
      // Health checks and metrics are still answered: a busy service is not a dead one.
      if (routeOptions.config.rateLimit === false) return;
      throw new ServerError("OVERLOADED", "the service is overloaded; try again");
    },
  });
}

/** Limits the larger IPv6 networks too: one customer may have a /48, which contains 65,536 /64 networks. */
function limitNetworks(app: App, config: AppConfig): void {
  const levels = NETWORK_GROWTH.map((growth, level) => {
    const max = () => config.rateLimit * growth;
    const network = (ip: string) => networksOf(ip)[level];
    const count = app.createRateLimit({ max, timeWindow: MINUTE_MS, keyGenerator: ({ ip }) => network(ip) ?? ip });
    return { max, network, count };
  }).slice(1);
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.config?.rateLimit === false) return;
    for (const { max, network, count } of levels) {
      if (network(request.ip) === undefined) return;
      const found = await count(request);
      if (found.isAllowed || !found.isExceeded) continue;
      const message = `rate limit exceeded: ${max()} requests a minute for one network`;
      throw new ServerError("RATE_LIMITED", message, { resetAt: Date.now() + found.ttl });
    }
  });
}

const JSON_TYPE = /^application\/json(\s*;\s*charset=("?)utf-8\2)?\s*$/i;

function addBodyParser(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
    if (!JSON_TYPE.test(type) || encoding !== "identity")
      throw new ServerError(
        "UNSUPPORTED_MEDIA_TYPE",
        "the body must be sent as application/json in UTF-8, not encoded",
      );
    if (body.length === 0) throw new ServerError("INVALID_JSON", "the body is empty");
    return parseStrictJson(body);
  });
}
