// A server that sells one report with the published packages, and payers with the published client.

import { openWallet, openWorld, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { SottoScheme } from "@sotto/x402/client";
import type { SottoRecipient } from "@sotto/x402/server";
import type { PaymentRequired } from "@x402/core/types";
import { x402Client } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { type Middleman, openMiddleman } from "./middleman.ts";
import { decode, openResourceServer, type ResourceServer, signRecipient } from "./resource-server.ts";

/** Price of the report, base units. */
export const PRICE = 1_000_000n;

export const clientOf = (scheme: SottoScheme): x402Client => new x402Client().register(scheme.network, scheme);

export const failure = (promise: Promise<unknown>): Promise<Error & { code?: string; cause?: unknown }> =>
  promise.then(
    () => expect.fail("a refusal was expected"),
    (error) => error,
  );

export interface Selling {
  readonly world: World;
  readonly merchant: Wallet;
  readonly recipient: SottoRecipient;
  /** The proxy between server and facilitator. */
  readonly between: Middleman;
  readonly server: ResourceServer;
  /** URL of the report. */
  readonly url: string;
  schemeOf(wallet: Wallet): Promise<SottoScheme>;
  /** Requests a new challenge. */
  required(): Promise<PaymentRequired>;
  /** Restores the normal behavior of the proxy and the handler. */
  recover(): void;
  close(): Promise<void>;
}

export async function openSelling(): Promise<Selling> {
  const world = await openWorld();
  const merchant = await openWallet(world);
  const recipient = await signRecipient(world, Account.createRandom(), merchant.shieldedAddress);
  const between = await openMiddleman(new URL(world.serviceUrl).origin);
  const facilitator = between.url + new URL(world.serviceUrl).pathname;
  const server = await openResourceServer(world, recipient, facilitator, { service: world.serviceUrl });
  const url = `${server.origin}/report`;
  return {
    world,
    merchant,
    recipient,
    between,
    server,
    url,
    schemeOf: (wallet) => SottoScheme.open({ wallet, services: [world.serviceUrl] }),
    required: async () => decode((await fetch(url)).headers.get("payment-required")) as unknown as PaymentRequired,
    recover() {
      between.trouble = (_path, answer) => answer();
      server.handler = (_request, response) => void response.json({ report: "paid" });
    },
    async close() {
      await server.close();
      await between.close();
    },
  };
}
