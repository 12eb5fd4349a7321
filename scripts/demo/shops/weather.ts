import { sotto } from "@sotto/resource-server/fastify";
import fastify from "fastify";
import { HOST, type ShopKind, sell } from "./shop.ts";

export const weather: ShopKind = {
  name: "weather",
  framework: "Fastify",
  line: "await app.register(sotto, options)",
  price: "0.02",
  async open(options, port) {
    const app = fastify({ forceCloseConnections: true });
    await app.register(sotto, options);
    app.get<{ Params: { city: string } }>("/forecast/:city", async ({ params, payment }) =>
      sell(`sunshine in ${params.city}`, payment),
    );
    await app.listen({ port, host: HOST });
    return { close: () => app.close() };
  },
};
