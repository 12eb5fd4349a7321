import { Histogram, type Registry } from "prom-client";
import type { App } from "./types.ts";

export interface HttpMetrics {
  /** @param route the route's pattern; @param seconds until the answer was sent */
  observe(method: string, route: string, status: number, seconds: number): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Methods are a label, and a client chooses them. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Time by method, route and status. Labels hold nothing that a client chose. */
export function httpMetrics(registry: Registry): HttpMetrics {
  const seconds = new Histogram({
    name: "sotto_http_request_seconds",
    help: "time until an answer was sent",
    labelNames: ["method", "route", "status"],
    buckets: SECONDS,
    registers: [registry],
  });
  return {
    observe: (method, route, status, elapsed) =>
      seconds.observe({ method: METHODS.has(method) ? method : "OTHER", route, status: String(status) }, elapsed),
  };
}

/** Watchers ask often and from one address. */
export const UNLIMITED = { config: { rateLimit: false } } as const;

/** At the root only: a proxy that passes on the base path does not show it. */
export function metricsRoute(app: App, registry: Registry): void {
  app.get("/metrics", { ...UNLIMITED, schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
