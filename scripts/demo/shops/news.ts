import { once } from "node:events";
import { sotto } from "@sotto/resource-server/express";
import express from "express";
import { HOST, type ShopKind, sell } from "./shop.ts";

export const news: ShopKind = {
  name: "news",
  framework: "Express",
  line: "app.use(sotto(options))",
  price: "0.10",
  async open(options, port) {
    const app = express();
    const paywall = sotto(options);
    app.use(paywall);
    app.get("/articles/:number", (request, response) => {
      response.json(sell(`article ${request.params.number}`, request.payment));
    });
    await paywall.ready;
    const server = app.listen(port, HOST);
    await once(server, "listening");
    const close = async () => {
      server.closeAllConnections();
      server.close();
      await paywall.close();
    };
    return { close };
  },
};
