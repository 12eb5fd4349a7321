// A resource server as a developer writes it: the published Express middleware, with sotto's scheme registered in it.
import type { Server } from "node:http";
import { bindingTypedData, parseAddress, SCHEDULE_PATH } from "@sotto/protocol";
import type { World } from "@sotto/test-world/service";
import {
  type SottoMonthRecipient,
  type SottoRecipient,
  SottoScheme,
  type SottoServerOptions,
  type X402Listing,
} from "@sotto/x402/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import type { Wallet as Account, HDNodeWallet } from "ethers";
import express, { type Express, type Request, type Response } from "express";

/** The part of a world that a server needs. */
export type Place = Pick<World, "chainId" | "pool" | "token" | "provider">;

/** The recipient, with the signature that every client checks. */
export async function signRecipient(
  { chainId, pool }: Pick<Place, "chainId" | "pool">,
  account: Account | HDNodeWallet,
  shieldedAddress: string,
): Promise<SottoRecipient> {
  const issuedAt = Math.floor(Date.now() / 300_000) * 300;
  const wallet = parseAddress(account.address);
  const place = { chainId: BigInt(chainId), pool: parseAddress(pool) };
  const binding = { phone: "", wallet, key: shieldedAddress, ...place, service: "", issuedAt };
  const { domain, types, message } = bindingTypedData(binding);
  const signature = await account.signTypedData(domain, { ...types }, message);
  return { wallet, shieldedAddress, signature, issuedAt };
}

export interface ResourceServer {
  readonly origin: string;
  readonly scheme: SottoScheme;
  /** How often the handler ran. */
  readonly served: () => number;
  /** The handler of the paid route; tests may replace it. */
  handler: (request: Request, response: Response) => void | Promise<void>;
  /** When the server started, Unix time in ms. */
  readonly started: number;
  /** The errors that the scheme reported. */
  readonly errors: unknown[];
  close(): Promise<void>;
}

const PRICE_TEXT = "$1.00";

/**
 * @param facilitator base URL of the facilitator that settles payments
 * @param listings further paid routes, such as "GET /users/:id"
 */
export async function openResourceServer(
  world: Place,
  recipient: SottoRecipient | SottoMonthRecipient,
  facilitator: string,
  options: Partial<SottoServerOptions> = {},
  listings: Readonly<Record<string, X402Listing>> = {},
): Promise<ResourceServer> {
  const errors: unknown[] = [];
  const started = Date.now();
  const app: Express = express();
  const server: Server = await new Promise((resolve) => {
    const listening = app.listen(0, "127.0.0.1", () => resolve(listening));
  });
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const call = (question: { to?: string; data: string }) => world.provider.call(question);
  const scheme = await SottoScheme.open(
    {
      origin,
      recipient,
      chainId: world.chainId,
      pool: world.pool,
      asset: world.token,
      decimals: 6,
      service: facilitator,
      onError: (error: unknown) => void errors.push(error),
      ...options,
    },
    call,
  );
  const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator, timeoutMs: 300_000 }));
  resources.register(scheme.network, scheme);
  const payTo = "addresses" in recipient ? [recipient.addresses].flat()[0]!.schedule.wallet : recipient.wallet;
  const accepts = { scheme: scheme.scheme, network: scheme.network, payTo, price: PRICE_TEXT };
  const listed = Object.entries(listings).map(([route, listing]) => [route, { accepts, ...listing }]);
  const own = ["GET /report", "HEAD /report", "GET /other", "POST /report"].map((route) => [route, { accepts }]);
  const routes = { ...Object.fromEntries(own), ...Object.fromEntries(listed) };
  const { schedule } = scheme;
  if (schedule !== undefined) app.get(SCHEDULE_PATH, (_request, response) => void response.json(schedule));
  app.use(paymentMiddleware(routes, resources));
  let served = 0;
  const resourceServer: ResourceServer = {
    origin,
    scheme,
    errors,
    started,
    served: () => served,
    handler: (_request, response) => void response.json({ report: "paid" }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const serve = async (request: Request, response: Response) => {
    served += 1;
    await resourceServer.handler(request, response);
  };
  app.get("/report", serve);
  app.post("/report", serve);
  app.get("/other", serve);
  for (const route of Object.keys(listings)) app.get(route.replace("GET ", ""), serve);
  app.get("/health", (_request, response) => void response.json({ ok: true }));
  return resourceServer;
}

export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");
export const decode = (header: string | null): Record<string, unknown> =>
  header === null ? {} : JSON.parse(Buffer.from(header, "base64").toString());
