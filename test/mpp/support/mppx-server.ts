// Servers of the published mppx that take sotto's payments, as an integrator writes them.
import { createServer, type Server } from "node:http";
import { serve } from "@hono/node-server";
import { type Charges, openCharges } from "@sotto/mpp/server";
import type { PaywallRecipient } from "@sotto/resource-server";
import type { World } from "@sotto/test-world/wallets";
import express from "express";
import { Hono } from "hono";
import { Errors, Method, z } from "mppx";
import { Mppx as ExpressMppx } from "mppx/express";
import { Mppx as HonoMppx } from "mppx/hono";
import { Mppx, Request as MppxRequest } from "mppx/server";

/** Base units. */
export const PRICE = 1_000_000n;
/** What the plain server says about its payments. */
export const DESCRIPTION = '1 × "café" — 日本 😀';
const amount = String(PRICE);
const secretKey = "a secret of thirty-two characters";

const json = z.record(z.string(), z.unknown());
const charge = Method.from({
  name: "sotto",
  intent: "charge",
  schema: { credential: { payload: json }, request: json },
});

/** sotto as a method of mppx. */
export const sottoOf = (charges: Charges) =>
  Method.toServer(charge, {
    request: ({ request, capturedRequest }) =>
      charges.request(capturedRequest!.url, BigInt(request["amount"] as string)),
    verify: async ({ credential, envelope, request }) => {
      const { url } = envelope!.capturedRequest;
      const { receipt, refusal } = await charges.verify(credential.payload, url, BigInt(request["amount"] as string));
      if (receipt === undefined) throw new Errors.VerificationFailedError({ reason: refusal });
      return receipt;
    },
  });

/** Another method, which sotto's client does not have. */
const other = Method.toServer(
  Method.from({ name: "other", intent: "charge", schema: { credential: { payload: json }, request: json } }),
  {
    verify: async () => {
      throw new Errors.VerificationFailedError({ reason: "nobody can pay with it" });
    },
  },
);

/** A running server, whose `/report` costs PRICE. */
export interface MppxServer {
  readonly origin: string;
  /** How many times its handler ran. */
  readonly served: () => number;
  close(): Promise<void>;
}

type Start = (charges: Charges, requiresAuth: boolean) => Promise<{ server: Server; served: () => number }>;

const listening = (server: Server): Promise<Server> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));

/** Each kind of server that mppx has an adapter for here. */
export const KINDS: Readonly<Record<string, Start>> = {
  "plain Node": async (charges, requiresAuth) => {
    let served = 0;
    const mppx = Mppx.create({ methods: [sottoOf(charges)], secretKey, requiresAuth });
    const handler = async (request: Request) => {
      if (new URL(request.url).pathname === "/old") return Response.redirect(new URL("/report", request.url));
      const paid = await mppx.charge({ amount, description: DESCRIPTION })(request);
      if (paid.status === 402) return paid.challenge;
      served += 1;
      return paid.withReceipt(new Response("report"));
    };
    return { server: await listening(createServer(MppxRequest.toNodeListener(handler))), served: () => served };
  },
  Express: async (charges, requiresAuth) => {
    let served = 0;
    const mppx = ExpressMppx.create({ methods: [sottoOf(charges)], secretKey, requiresAuth });
    const app = express();
    app.get("/report", mppx.charge({ amount }), (_, response) => {
      served += 1;
      response.json("report");
    });
    return { server: await listening(createServer(app)), served: () => served };
  },
  Hono: async (charges, requiresAuth) => {
    let served = 0;
    const mppx = HonoMppx.create({ methods: [sottoOf(charges)], secretKey, requiresAuth });
    const app = new Hono();
    app.get("/report", mppx.charge({ amount }), (context) => {
      served += 1;
      return context.text("report");
    });
    const server = await new Promise<Server>((resolve) => {
      const started = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(started as Server));
    });
    return { server, served: () => served };
  },
  "several methods": async (charges) => {
    let served = 0;
    const mppx = Mppx.create({ methods: [other, sottoOf(charges)], secretKey });
    const handler = async (request: Request) => {
      const paid = await mppx.compose(["other/charge", { amount }], ["sotto/charge", { amount }])(request);
      if (paid.status === 402) return paid.challenge;
      served += 1;
      return paid.withReceipt(new Response("report"));
    };
    return { server: await listening(createServer(MppxRequest.toNodeListener(handler))), served: () => served };
  },
  "only another method": async () => {
    let served = 0;
    const mppx = Mppx.create({ methods: [other], secretKey });
    const handler = async (request: Request) => {
      const paid = await mppx.charge({ amount })(request);
      if (paid.status === 402) return paid.challenge;
      served += 1;
      return paid.withReceipt(new Response("report"));
    };
    return { server: await listening(createServer(MppxRequest.toNodeListener(handler))), served: () => served };
  },
};

/** @param recipient signed for the world's chain and pool */
export async function openMppxServer(
  kind: keyof typeof KINDS,
  world: World,
  recipient: PaywallRecipient,
  { requiresAuth = false } = {},
): Promise<MppxServer> {
  let charges: Charges | undefined;
  // The origin is known once the server listens; it charges only after that.
  const late: Charges = {
    get ready() {
      return charges!.ready;
    },
    get schedule() {
      return charges!.schedule;
    },
    request: (...given) => charges!.request(...given),
    verify: (...given) => charges!.verify(...given),
    close: () => charges!.close(),
  };
  const { server, served } = await KINDS[kind]!(late, requiresAuth);
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const { chainId, pool, serviceUrl: service, node } = world;
  charges = await openCharges({ origin, recipient, service, chain: { rpcUrls: [node.url], chainId, pool } });
  return {
    origin,
    served,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await charges?.close();
    },
  };
}
