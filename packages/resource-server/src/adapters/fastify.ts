// Fastify 5.

import { isBytes } from "@sotto/protocol";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import { isPreflight } from "../paywall/cors.ts";
import type { MethodPath, Payment } from "../paywall/types.ts";
import { type Paid, reportUnstarted } from "./end.ts";
import { HTML_TYPE, JSON_TYPE, mergedHeader } from "./headers.ts";
import { isEnded, nodeRequest, replaceHeader, reportOutcome } from "./node.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The payment of this request; undefined if the request is free. */
    payment?: Payment | undefined;
  }
}

function setHeaders(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const before = reply.getHeader(name);
    reply.header(name, mergedHeader(name, before === undefined ? undefined : String(before), value));
  }
}

/** Name of the constraint on the routes that the paywall adds: they match preflights only. */
const PREFLIGHT = "sottoPreflight";

type Storage = ReturnType<Parameters<FastifyInstance["addConstraintStrategy"]>[0]["storage"]>;

/** One handler for each route, because the constraint has one value. */
function createStorage(): Storage {
  let stored: ReturnType<Storage["get"]> = null;
  return {
    get: () => stored,
    set: (_preflight, handler) => {
      stored = handler;
    },
  };
}

/**
 * Adds an OPTIONS route beside each later route, because Fastify answers 404 to a preflight without one. The routes
 * match preflights only, so the application can have its own OPTIONS routes, and every other OPTIONS request is routed
 * as it would be without the paywall.
 */
function addPreflightRoutes(app: FastifyInstance): void {
  if (!app.hasConstraintStrategy(PREFLIGHT))
    app.addConstraintStrategy({
      name: PREFLIGHT,
      storage: createStorage,
      validate: () => {},
      deriveConstraint: (request) => isPreflight(nodeRequest(request, request.url ?? "")) || undefined,
    });
  app.addHook("onRoute", function (this: FastifyInstance, { method, url, routePath, constraints: others = {} }) {
    const constraints = { ...others, [PREFLIGHT]: true };
    // Declaring the OPTIONS route calls this hook again.
    if ([method].flat().includes("OPTIONS") || this.hasRoute({ method: "OPTIONS", url, constraints })) return;
    this.route({
      method: "OPTIONS",
      url: routePath,
      // This hook gets /prefix and /prefix/ one after the other.
      prefixTrailingSlash: "slash",
      constraints,
      // Keeps @fastify/swagger from listing these routes.
      schema: { hide: true } as FastifySchema,
      handler: (_request, reply) => reply.callNotFound(),
    });
  });
}

/**
 * Adds the routes of methods, which the paywall answers in its hook, before Fastify reads their bodies. Below a prefix
 * there are none, because their paths are constants: register the plugin without a prefix as well.
 */
function addMethodRoutes(app: FastifyInstance, paths: readonly MethodPath[]): void {
  if (app.prefix !== "") return;
  for (const { method, path: url } of paths)
    if (!app.hasRoute({ method, url }))
      app.route({
        method,
        url,
        schema: { hide: true } as FastifySchema,
        handler: (_request, reply) => reply.callNotFound(),
      });
}

const plugin: FastifyPluginAsync<PaywallSource> = async (app, source) => {
  const paywall = new OpeningPaywall(source);
  await paywall.started();
  // Nothing awaits this promise, so a later permanent failure ends the process.
  void paywall.ready();
  app.addHook("onClose", () => paywall.close());
  if (await paywall.answersPreflights()) addPreflightRoutes(app);
  addMethodRoutes(app, await paywall.paths());
  const finalHeaders = new WeakMap<FastifyReply, NonNullable<Paid["finalHeaders"]>>();
  if (!app.hasRequestDecorator("payment")) app.decorateRequest("payment", undefined);
  // The earliest hook, so that Fastify does not read the body of an unpaid request.
  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = nodeRequest(request.raw, request.originalUrl, request.ip);
    const decision = await paywall.decide(asked, (name, lines) => replaceHeader(request.raw, name, lines));
    if (decision.kind === "free") {
      if (decision.headers !== undefined) setHeaders(reply, decision.headers);
      return;
    }
    if (decision.kind === "preflight") {
      if (isEnded(reply.raw)) return reply.hijack();
      setHeaders(reply, decision.headers);
      return reply.code(204).send();
    }
    if (decision.kind === "refused") {
      if (isEnded(reply.raw)) return reply.hijack();
      const { page, contentType = JSON_TYPE } = decision;
      setHeaders(reply, decision.headers);
      reply.code(decision.status).type(page === undefined ? contentType : HTML_TYPE);
      return reply.send(page ?? JSON.stringify(decision.body));
    }
    if (decision.kind === "answered") {
      if (isEnded(reply.raw)) return reply.hijack();
      setHeaders(reply, decision.headers);
      return reply.code(decision.status).send(decision.body);
    }
    if (isEnded(reply.raw)) {
      await reportUnstarted(decision);
      return reply.hijack();
    }
    setHeaders(reply, decision.headers);
    // Fastify writes the headers before it ends a response, so the hook below sets the final ones.
    reportOutcome(reply.raw, { ...decision, finalHeaders: undefined });
    if (decision.finalHeaders !== undefined) finalHeaders.set(reply, decision.finalHeaders);
    request.payment = decision.payment;
  });
  app.addHook("onSend", async (_request, reply, payload) => {
    const headersOf = finalHeaders.get(reply);
    const isWhole = payload === null || payload === undefined || typeof payload === "string" || isBytes(payload);
    if (headersOf === undefined || !isWhole) return;
    finalHeaders.delete(reply);
    setHeaders(reply, headersOf(reply.statusCode));
  });
};

/**
 * Charges for every request to the instance on which it is registered, nested plugins included. Register it inside a
 * plugin that has only the paid routes: on the application itself it also charges for missing pages.
 *
 *     await paid.register(sotto, options);
 * @throws the errors of `createPaywall`, from `register` or `ready`
 */
// As fastify-plugin does: the hook applies to the instance that registers the plugin, not to a child of it.
export const sotto: FastifyPluginAsync<PaywallSource> = Object.assign(plugin, {
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "sotto",
  [Symbol.for("plugin-meta")]: { name: "sotto", fastify: "5.x" },
});
