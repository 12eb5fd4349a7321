// Fastify 5.
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { PaidProof } from "../paywall/types.ts";
import { mergedHeader } from "./headers.ts";
import { isEnded, nodeRequest, reportOutcome } from "./node.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The payment of this request; undefined if the request is free. */
    payment?: PaidProof | undefined;
  }
}

function setHeaders(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const before = reply.getHeader(name);
    reply.header(name, mergedHeader(name, before === undefined ? undefined : String(before), value));
  }
}

const plugin: FastifyPluginAsync<PaywallSource> = async (app, source) => {
  const paywall = new OpeningPaywall(source);
  await paywall.started();
  // Nothing awaits this promise, so a later permanent failure ends the process.
  void paywall.ready();
  app.addHook("onClose", () => paywall.close());
  if (!app.hasRequestDecorator("payment")) app.decorateRequest("payment", undefined);
  // The earliest hook: Fastify reads no body before the request is paid.
  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    const decision = await paywall.decide(nodeRequest(request.raw, request.originalUrl));
    if (decision.kind === "free") return;
    if (decision.kind === "refused") {
      if (isEnded(reply.raw)) return reply.hijack();
      setHeaders(reply, decision.headers);
      return reply.code(decision.status).type("application/json; charset=utf-8").send(JSON.stringify(decision.body));
    }
    if (isEnded(reply.raw)) {
      // The client is gone: do not run the handler, and release the payment so that the client can retry with it.
      await decision.finish("aborted");
      return reply.hijack();
    }
    setHeaders(reply, decision.headers);
    reportOutcome(reply.raw, decision);
    request.payment = decision.payment;
  });
};

/**
 * Charges for every request of the instance it is registered on, and of that instance's plugins. Register it on a
 * plugin with the paid routes: on the application itself it also charges for missing pages.
 *
 *     await paid.register(sotto, options);
 *
 * @throws the errors of `createPaywall`, from `register` or `ready`
 */
// As fastify-plugin does: the hook applies to the instance that registers the plugin, not to a child of it.
export const sotto: FastifyPluginAsync<PaywallSource> = Object.assign(plugin, {
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "sotto",
  [Symbol.for("plugin-meta")]: { name: "sotto", fastify: "5.x" },
});
