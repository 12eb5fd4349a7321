// Fastify 5.
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { PaidProof } from "../paywall/types.ts";
import { combined } from "./headers.ts";
import { follow, isOver, nodeRequest } from "./node.ts";
import { OpeningPaywall, type PaywallSource } from "./open.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What this request was paid with; undefined where it was free. */
    payment?: PaidProof | undefined;
  }
}

function setHeaders(reply: FastifyReply, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const before = reply.getHeader(name);
    reply.header(name, combined(name, before === undefined ? undefined : String(before), value));
  }
}

const plugin: FastifyPluginAsync<PaywallSource> = async (app, source) => {
  const paywall = new OpeningPaywall(source);
  await paywall.started();
  // From here on a failure ends the process.
  void paywall.ready();
  app.addHook("onClose", () => paywall.close());
  if (!app.hasRequestDecorator("payment")) app.decorateRequest("payment", undefined);
  // The first hook there is: nothing of a request is read before it is paid.
  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    const decision = await paywall.decide(nodeRequest(request.raw, request.originalUrl));
    if (decision.kind === "free") return;
    if (decision.kind === "refused") {
      if (isOver(reply.raw)) return reply.hijack();
      setHeaders(reply, decision.headers);
      return reply.code(decision.status).type("application/json; charset=utf-8").send(JSON.stringify(decision.body));
    }
    if (isOver(reply.raw)) {
      // Nobody would get what was paid for: the handler does not run, and the payment can be shown again.
      await decision.finish("aborted");
      return reply.hijack();
    }
    setHeaders(reply, decision.headers);
    follow(reply.raw, decision);
    request.payment = decision.payment;
  });
};

/**
 * Charges for every request of the instance it is registered on, and of that instance's plugins. Register it on a plugin
 * that holds the paid routes: on the application itself it charges for missing pages too.
 *
 *     await paid.register(sotto, options);
 *
 * @throws what `createPaywall` throws, from `register` or `ready`
 */
// What fastify-plugin does: the hook is for the instance that registers this, not for a child of its own.
export const sotto: FastifyPluginAsync<PaywallSource> = Object.assign(plugin, {
  [Symbol.for("skip-override")]: true,
  [Symbol.for("fastify.display-name")]: "sotto",
  [Symbol.for("plugin-meta")]: { name: "sotto", fastify: "5.x" },
});
