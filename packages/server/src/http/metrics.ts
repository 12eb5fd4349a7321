import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Histogram, type Registry } from "prom-client";
import type { ServerSettings } from "../config/server-settings.ts";
import { portError } from "./listen.ts";
import type { App } from "./types.ts";

/** Receives the duration of each response. */
export interface HttpMetrics {
  /**
   * Counts a response and its duration.
   * @param route the route's pattern; @param seconds until the response was sent
   */
  observe(method: string, route: string, status: number, seconds: number): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Other methods get the label OTHER: a client can send any text as the method. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Response times by method, route and status. No label contains text that a client chose. */
export function httpMetrics(registry: Registry): HttpMetrics {
  const seconds = new Histogram({
    name: "sotto_http_request_seconds",
    help: "time until the response was sent",
    labelNames: ["method", "route", "status"],
    buckets: SECONDS,
    registers: [registry],
  });
  return {
    observe: (method, route, status, elapsed) =>
      seconds.observe({ method: METHODS.has(method) ? method : "OTHER", route, status: String(status) }, elapsed),
  };
}

/** Options of the monitoring routes, which a single address requests often. */
export const UNLIMITED = { config: { rateLimit: false } } as const;

/** `/metrics`, at the root only: a proxy that forwards the base path does not expose it. */
export function metricsRoute(app: App, registry: Registry): void {
  app.get("/metrics", { ...UNLIMITED, schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

/** A server of `/metrics` alone. */
export interface MetricsServer {
  /** Where it serves them: scheme, address, port and the path `/metrics`. */
  readonly url: string;
  /** Stops it. */
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, and nothing else, at the address of its own that the settings name.
 * @returns undefined if they name none: `/metrics` is then a route of the program's server
 * @throws ServerError PORT_UNAVAILABLE
 */
export async function serveMetrics(
  { metricsHost: host, metricsPort: port }: Pick<ServerSettings, "metricsHost" | "metricsPort">,
  registry: Registry,
): Promise<MetricsServer | undefined> {
  if (port === undefined) return undefined;
  const server = createServer((request, response) => {
    answer(request, response, registry).catch(() => void response.writeHead(500).end());
  });
  try {
    await once(server.listen(port, host), "listening");
  } catch (cause) {
    throw portError(cause, host, port);
  }
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${chosen}/metrics`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

async function answer({ method = "", url = "" }: IncomingMessage, response: ServerResponse, registry: Registry) {
  if (url.split("?")[0] !== "/metrics") return response.writeHead(404).end();
  if (method !== "GET" && method !== "HEAD") return response.writeHead(405, { allow: "GET, HEAD" }).end();
  const text = await registry.metrics();
  return response.writeHead(200, { "content-type": registry.contentType }).end(text);
}
