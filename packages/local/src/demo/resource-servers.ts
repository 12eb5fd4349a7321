// The merchant's four resource servers, one on each adapter, as a child process of the demo: proving in the parent must
// not delay their responses. The parent sends their options over the IPC channel, because they contain a viewing key.
import { once } from "node:events";
import { serve } from "@hono/node-server";
import { origins } from "@sotto/origins/server";
import { metered, meteredCredit, type PrepaidOptions, prepaid as prepaidTokens } from "@sotto/prepaid/server";
import type { Payment, PaywallOptions } from "@sotto/resource-server";
import { sotto as expressPaywall } from "@sotto/resource-server/express";
import { sotto as fastifyPaywall } from "@sotto/resource-server/fastify";
import { withPayment } from "@sotto/resource-server/fetch";
import { sotto as honoPaywall } from "@sotto/resource-server/hono";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import type { MeteredFiles } from "../merchant/metered-terms.ts";
import { DAY_PRICE, HOUR_PRICE, OUTLOOK_CAP } from "./amounts.ts";
import type { ChildMessage, CuratedSet } from "./processes.ts";

const HOST = "127.0.0.1";

/** The options that all four share. */
export type SharedOptions = Omit<PaywallOptions, "origin" | "price">;

/** What the parent sends. */
export interface ServersOrder {
  readonly shared: SharedOptions;
  /** A port for each server, in their order. */
  readonly ports: readonly number[];
  /** The weather server's keys of prepaid tokens. */
  readonly prepaid: PrepaidOptions;
  /** The weather server's terms of outlooks, and the keys of its receipts. */
  readonly credit: MeteredFiles;
  /** The set that the news server asks for. */
  readonly set: CuratedSet;
}

export interface ResourceServer {
  readonly name: string;
  readonly framework: string;
  /** The line of code that charges for requests. */
  readonly line: string;
  /** Price of every request, in whole tokens. */
  readonly price: string;
  readonly origin: string;
}

interface Kind extends Omit<ResourceServer, "origin"> {
  /** @returns a function that closes the server */
  open(options: PaywallOptions, port: number): Promise<() => Promise<void>>;
}

/** The body of a paid response. */
export interface Sale {
  readonly goods: string;
  /** Sum of the payments that the server has read with its viewing key, in base units. */
  readonly paid: string;
  /** Names of the sets that the payment showed. */
  readonly origin?: readonly string[];
}

function sell(goods: string, payment: Payment | undefined): Sale {
  const shown = payment?.origin?.map(({ name }) => name) ?? [];
  return { goods, paid: String(payment?.amount), ...(shown.length > 0 && { origin: shown }) };
}

/** The part of Node's HTTP server that ends keep-alive connections and stops listening. */
function closeServer(server: ReturnType<typeof serve>): void {
  if ("closeAllConnections" in server) server.closeAllConnections();
  server.close();
}

const KINDS: readonly Kind[] = [
  {
    name: "news",
    framework: "Express",
    line: "app.use(sotto(options))",
    price: "0.10",
    async open(options, port) {
      const app = express();
      const paywall = expressPaywall(options);
      app.use(paywall);
      app.get("/articles/:number", (request, response) => {
        response.json(sell(`article ${request.params.number}`, request.payment));
      });
      await paywall.ready;
      const server = app.listen(port, HOST);
      await once(server, "listening");
      return async () => {
        closeServer(server);
        await paywall.close();
      };
    },
  },
  {
    name: "weather",
    framework: "Fastify",
    line: "app.register(sotto, options)",
    price: "0.02",
    async open(options, port) {
      const app = fastify({ forceCloseConnections: true });
      await app.register(fastifyPaywall, options);
      app.get<{ Params: { city: string } }>("/forecast/:city", async ({ params, payment }) =>
        sell(`sunshine in ${params.city}`, payment),
      );
      app.get<{ Params: { city: string } }>("/hour/:city", async ({ params, payment }) =>
        sell(`the next hour in ${params.city}`, payment),
      );
      app.get<{ Params: { city: string } }>("/outlook/:city", async ({ params, payment }) => {
        const days = ["sunshine", "clouds", "rain"].filter(() => payment?.meter?.add({ days: 1 }) === true);
        return { goods: `${params.city}: ${days.join(", ")}` };
      });
      await app.listen({ port, host: HOST });
      return () => app.close();
    },
  },
  {
    name: "words",
    framework: "Hono",
    line: 'app.use("*", sotto(options))',
    price: "0.05",
    async open(options, port) {
      const app = new Hono();
      const paywall = honoPaywall(options);
      app.use("*", paywall);
      app.get("/translate/:word", (c) => c.json(sell(`${c.req.param("word")}, translated`, c.get("payment"))));
      await paywall.ready;
      const server = serve({ fetch: app.fetch, port, hostname: HOST });
      await once(server, "listening");
      return async () => {
        closeServer(server);
        await paywall.close();
      };
    },
  },
  {
    name: "rates",
    framework: "none",
    line: "withPayment(handler, options)",
    price: "0.03",
    async open(options, port) {
      const handler = withPayment(({ url }, payment) => {
        const currency = new URL(url).pathname.replace("/rates/", "");
        return Response.json(sell(`a dollar in ${currency}`, payment));
      }, options);
      await handler.ready;
      const server = serve({ fetch: (request) => handler(request), port, hostname: HOST });
      await once(server, "listening");
      return async () => {
        closeServer(server);
        await handler.close();
      };
    },
  },
];

/** The weather server sells hours for prepaid tokens, and charges outlooks by the day. */
function weatherOptions({ prepaid, credit }: ServersOrder): Pick<PaywallOptions, "methods" | "routes"> {
  const tokens = prepaidTokens(prepaid);
  const price = metered({ cap: OUTLOOK_CAP, grain: DAY_PRICE, units: { days: { price: DAY_PRICE } } });
  return {
    methods: [tokens, meteredCredit({ ...credit, prepaid: tokens })],
    routes: [
      { path: "/hour/:city", price: HOUR_PRICE },
      { path: "/outlook/:city", method: "GET", price },
    ],
  };
}

async function openAll(order: ServersOrder): Promise<readonly ResourceServer[]> {
  const closers: (() => Promise<void>)[] = [];
  process.once("SIGTERM", () => {
    void Promise.allSettled(closers.map((close) => close())).finally(() => process.exit(0));
  });
  const { shared, ports } = order;
  return Promise.all(
    KINDS.map(async ({ open, ...kind }, index) => {
      const port = ports[index]!;
      const origin = `http://${HOST}:${port}`;
      const more =
        kind.name === "weather"
          ? weatherOptions(order)
          : kind.name === "news"
            ? { attachments: [origins({ sets: [order.set] })] }
            : {};
      closers.push(await open({ ...shared, origin, price: kind.price, ...more }, port));
      return { ...kind, origin };
    }),
  );
}

const send = (message: ChildMessage<readonly ResourceServer[]>) => process.send?.(message);
process.once("disconnect", () => process.exit(0));
if (!process.connected) process.exit(0);
// Ctrl-C reaches the whole process group; the parent decides when this process ends.
process.on("SIGINT", () => {});
process.once("message", (order: ServersOrder) => {
  openAll(order).then(
    (servers) => send({ started: servers }),
    (error: Error & { code?: string }) => {
      send({ error: { code: error.code ?? "SERVER_FAILED", message: error.message } });
      process.disconnect();
    },
  );
});
