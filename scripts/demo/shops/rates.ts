import { once } from "node:events";
import { serve } from "@hono/node-server";
import { withPayment } from "@sotto/resource-server/fetch";
import { HOST, type ShopKind, sell } from "./shop.ts";

export const rates: ShopKind = {
  name: "rates",
  framework: "none",
  line: "withPayment(handler, options)",
  price: "0.03",
  async open(options, port) {
    const shop = withPayment(({ url }, payment) => {
      const currency = new URL(url).pathname.replace("/rates/", "");
      return Response.json(sell(`a dollar in ${currency}`, payment));
    }, options);
    await shop.ready;
    const server = serve({ fetch: (request) => shop(request), port, hostname: HOST });
    await once(server, "listening");
    const close = async () => {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
      await shop.close();
    };
    return { close };
  },
};
