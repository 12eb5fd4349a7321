// Servers that speak HTTP/2, with the same routes as those of `ADAPTERS`.
import { createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { pipeline, Readable } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { type PaidRequest, sotto as plainPaywall } from "@sotto/resource-server/express";
import { sotto as fastifyPaywall } from "@sotto/resource-server/fastify";
import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import fastify from "fastify";
import { Hono } from "hono";
import { bodyOf, type ResourceServer, type Sale, type StartServer } from "./servers.ts";

async function listen(server: Http2Server): Promise<ResourceServer> {
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

const onNode: StartServer = async (paywall, sell) => {
  const middleware = plainPaywall(paywall);
  const server = createServer((request, response) => {
    const asked = request as unknown as PaidRequest;
    middleware(asked, response as never, async () => {
      const header = (name: string) => request.headers[name] as string | undefined;
      const sale: Sale = { payment: asked.payment, method: request.method, header, body: async () => "" };
      try {
        const { status, text, parts } = await sell(sale);
        response.statusCode = status;
        if (parts === undefined) return void response.end(text);
        response.writeHead(status);
        pipeline(parts, response.stream, () => undefined);
      } catch {
        response.writeHead(500).end();
      }
    });
  });
  return listen(server);
};

const onFastify: StartServer = async (paywall, sell) => {
  const app = fastify({ http2: true });
  await app.register(fastifyPaywall, paywall);
  app.all("/paid/:what", async (request, reply) => {
    const { payment, method } = request;
    const header = (name: string) => request.headers[name] as string | undefined;
    const { status, text, parts } = await sell({ payment, method, header, body: async () => "" });
    reply.code(status).type("text/plain");
    return reply.send(parts === undefined ? text : Readable.from(parts, { objectMode: false }));
  });
  await app.ready();
  const { url, close } = await listen(app.server);
  return { url, close: async () => void (await Promise.all([close(), app.close()])) };
};

const onHono: StartServer = async (paywall, sell) => {
  const app = new Hono();
  app.use("*", honoPaywall(paywall));
  app.all("/paid/:what", async (c) => {
    const header = (name: string) => c.req.header(name);
    const sold = await sell({ payment: c.get("payment"), method: c.req.method, header, body: () => c.req.text() });
    return new Response(bodyOf(sold), { status: sold.status });
  });
  app.onError((_error, c) => c.text("Internal Server Error", 500));
  return listen(createAdaptorServer({ fetch: app.fetch, createServer }) as Http2Server);
};

export const HTTP2: ReadonlyMap<string, StartServer> = new Map([
  ["Node over HTTP/2", onNode],
  ["Fastify over HTTP/2", onFastify],
  ["Hono over HTTP/2", onHono],
]);
