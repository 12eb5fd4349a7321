// The same server on each adapter: `/paid/:what` needs a payment, `/health` is free, any other path is a 404.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { serve } from "@hono/node-server";
import type { PaidProof, Payment, Paywall } from "@sotto/resource-server";
import { sotto as expressPaywall } from "@sotto/resource-server/express";
import { sotto as fastifyPaywall } from "@sotto/resource-server/fastify";
import { withPayment } from "@sotto/resource-server/fetch";
import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import express from "express";
// @ts-expect-error The types of Express 4 would conflict with those of Express 5.
import express4 from "express4";
import fastify, { type FastifyServerOptions } from "fastify";
import { Hono } from "hono";

export interface Sale {
  readonly payment: Payment | undefined;
  readonly method: string;
  /** A header of the request, if the handler can see it. */
  header(name: string): string | undefined;
  /** The body of the request, as the handler reads it. */
  body(): Promise<string>;
}

/** The payment of a sale that was paid with a proof. */
export function proofOf({ payment }: Sale): PaidProof {
  if (payment?.kind !== "payment") throw new Error(`paid with ${payment?.kind ?? "nothing"}, expected a proof`);
  return payment;
}

export interface Sold {
  readonly status: number;
  readonly text: string;
  /** A stream instead of the text. */
  readonly parts?: AsyncIterable<string>;
}

/** The handler of paid requests; the framework answers the errors that it throws. */
export type SaleHandler = (sale: Sale) => Sold | Promise<Sold>;

/** The body of a fetch Response. */
export function bodyOf({ text: sold, parts }: Sold): BodyInit | null {
  if (parts === undefined) return sold === "" ? null : sold;
  return Readable.toWeb(Readable.from(parts, { objectMode: false })) as BodyInit;
}

export interface ResourceServer {
  readonly url: string;
  close(): Promise<void>;
}

export type StartServer = (
  paywall: Pick<Paywall, "decide" | "close" | "removedHeaders">,
  sell: SaleHandler,
) => Promise<ResourceServer>;

export const FREE_BODY = "healthy";

function listen(server: Server, closing: () => Promise<unknown> = async () => undefined): Promise<ResourceServer> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const close = async () => {
        await closing();
        await new Promise((closed) => {
          server.close(closed);
          server.closeAllConnections();
        });
      };
      resolve({ url: `http://127.0.0.1:${port}`, close });
    });
  });
}

const onExpress =
  (create: typeof express): StartServer =>
  async (paywall, sell) => {
    const app = create();
    // In other environments, Express prints every error to the console.
    app.set("env", "test");
    app.use(expressPaywall(paywall));
    app.get("/health", (_request, response) => void response.send(FREE_BODY));
    app.all("/paid/:what", (request, response, next) => {
      const header = (name: string) =>
        request.get(name) ?? request.rawHeaders.find((text) => text.toLowerCase() === name);
      const sale = { payment: request.payment, method: request.method, header, body: () => text(request) };
      Promise.resolve()
        .then(() => sell(sale))
        .then(({ status, text: sold, parts }) => {
          response.status(status).type("text");
          if (parts === undefined) response.send(sold);
          else pipeline(parts, response, () => undefined);
        })
        .catch(next);
    });
    return listen(createServer(app));
  };

const onFastify =
  (routerOptions: NonNullable<FastifyServerOptions["routerOptions"]> = {}): StartServer =>
  async (paywall, sell) => {
    const app = fastify({ routerOptions });
    await app.register(fastifyPaywall, paywall);
    app.get("/health", async () => FREE_BODY);
    app.all("/paid/:what", async (request, reply) => {
      const header = (name: string) => request.headers[name] as string | undefined;
      const { payment, method } = request;
      const body = async () => (request.body as string | null | undefined) ?? "";
      const { status, text: sold, parts } = await sell({ payment, method, header, body });
      return reply
        .code(status)
        .type("text/plain")
        .send(parts === undefined ? sold : Readable.from(parts, { objectMode: false }));
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    const close = async () => {
      app.server.closeAllConnections();
      await app.close();
    };
    return { url, close };
  };

const onHono =
  (options: ConstructorParameters<typeof Hono>[0] = {}): StartServer =>
  async (paywall, sell) => {
    const app = new Hono(options);
    app.use("*", honoPaywall(paywall));
    app.get("/health", (c) => c.text(FREE_BODY));
    app.all("/paid/:what", async (c) => {
      const header = (name: string) => c.req.header(name);
      const sale = { payment: c.get("payment"), method: c.req.method, header, body: () => c.req.text() };
      const sold = await sell(sale);
      return new Response(bodyOf(sold), { status: sold.status });
    });
    app.onError((_error, c) => c.text("Internal Server Error", 500));
    return served(app.fetch);
  };

const onFetch: StartServer = async (paywall, sell) => {
  const handler = withPayment(async (request, payment) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/health" && request.method === "GET") return new Response(FREE_BODY);
    if (!/^\/paid\/[^/]+$/.test(pathname)) return new Response("Not Found", { status: 404 });
    const header = (name: string) => request.headers.get(name) ?? undefined;
    const sold = await sell({ payment, method: request.method, header, body: () => request.text() });
    return new Response(bodyOf(sold), { status: sold.status });
  }, paywall);
  return served((request) => handler(request).catch(() => new Response("Internal Server Error", { status: 500 })));
};

type Fetch = Parameters<typeof serve>[0]["fetch"];

function served(fetch: Fetch): Promise<ResourceServer> {
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
      const close = () =>
        new Promise<void>((closed) => {
          server.close(() => closed());
          if ("closeAllConnections" in server) server.closeAllConnections();
        });
      resolve({ url: `http://127.0.0.1:${port}`, close });
    });
  });
}

export const ADAPTERS: ReadonlyMap<string, StartServer> = new Map<string, StartServer>([
  ["Express 5", onExpress(express)],
  ["Express 4", onExpress(express4 as typeof express)],
  ["Fastify", onFastify()],
  ["Hono", onHono()],
  ["fetch", onFetch],
]);

/** A constant, not a literal in the call: Fastify's types lack `useSemicolonDelimiter`. */
const LENIENT_ROUTER = {
  caseSensitive: false,
  ignoreTrailingSlash: true,
  ignoreDuplicateSlashes: true,
  useSemicolonDelimiter: true,
};

/** Configures frameworks to match as many targets as possible to one route; Express does so by default. */
export const LENIENT: ReadonlyMap<string, StartServer> = new Map([
  ["a lenient Fastify", onFastify(LENIENT_ROUTER)],
  ["a lenient Hono", onHono({ strict: false })],
]);
