import { once } from "node:events";
import { serve } from "@hono/node-server";
import { sotto } from "@sotto/resource-server/hono";
import { Hono } from "hono";
import { HOST, type ShopKind, sell } from "./shop.ts";

export const words: ShopKind = {
  name: "words",
  framework: "Hono",
  line: 'app.use("*", sotto(options))',
  price: "0.05",
  async open(options, port) {
    const app = new Hono();
    const paywall = sotto(options);
    app.use("*", paywall);
    app.get("/translate/:word", (c) => c.json(sell(`${c.req.param("word")}, translated`, c.get("payment"))));
    await paywall.ready;
    const server = serve({ fetch: app.fetch, port, hostname: HOST });
    await once(server, "listening");
    const close = async () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
      await paywall.close();
    };
    return { close };
  },
};
