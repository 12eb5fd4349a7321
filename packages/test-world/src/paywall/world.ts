// A local chain, the service in a process of its own, and a merchant, shared by the tests of this folder.

import type { WireBundle } from "@sotto/protocol";
import { atEnd } from "@sotto/test-kit/at-end";
import { post } from "@sotto/test-kit/http";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { settleRequest } from "../bundles.ts";
import { closeWorld, environment, openWorld, type World } from "../service.ts";
import { type ServiceProcess, startProcess, stopProcess } from "../service-process.ts";
import { createMerchant, type Merchant } from "./merchant.ts";
import { forge, type Terms } from "./payments.ts";

/** The public origin of the servers in these tests, which differs from the address they listen on. */
export const ORIGIN = "https://data.example";
/** 0.01 USDC. */
export const PRICE = 10_000n;

export interface MerchantWorld extends World {
  /** Base URL of the service. */
  readonly service: string;
  readonly merchant: Merchant;
  /** A folder that is removed with the world. */
  readonly folder: string;
}

export interface Settled {
  readonly bundle: WireBundle;
  readonly paymentToken: string;
  readonly txSignature: string;
}

let shared: Promise<{ world: MerchantWorld; end(): Promise<void> }> | undefined;

export async function openMerchantWorld(): Promise<MerchantWorld> {
  shared ??= create();
  return (await shared).world;
}

async function create(): Promise<{ world: MerchantWorld; end(): Promise<void> }> {
  const world = await openWorld();
  const folder = temporaryFolder("merchant");
  // In a process of its own, because forging proofs in this process would block it.
  const service: ServiceProcess = await startProcess({ ...environment(world, folder), SOTTO_LOG_LEVEL: "silent" });
  const end = async () => {
    await stopProcess(service);
    await closeWorld();
  };
  const merchant = await createMerchant(world);
  return { world: { ...world, service: service.url, merchant, folder }, end };
}

/** Stops chain and service after all tests of the folder. */
export async function closeMerchantWorld(): Promise<void> {
  const opened = await shared;
  shared = undefined;
  await opened?.end();
}

atEnd(closeMerchantWorld);

type Wishes = Partial<Terms> & { readonly target?: string };

/** A payment of the price to the merchant for the target at `ORIGIN`, with changes; not yet verified. */
export function forgeFor(world: MerchantWorld, { target = "/paid/a", ...terms }: Wishes = {}): WireBundle {
  return forge(world, { to: world.merchant, root: world.root, price: PRICE, resource: `${ORIGIN}${target}`, ...terms });
}

export async function verify(world: MerchantWorld, bundle: WireBundle): Promise<string> {
  const { body } = await post(`${world.service}/verify`, bundle);
  if (body["valid"] !== true) throw new Error(`the service refuses the payment: ${JSON.stringify(body)}`);
  return String(body["paymentToken"]);
}

export async function settle(world: MerchantWorld, bundle: WireBundle): Promise<Settled> {
  const paymentToken = await verify(world, bundle);
  const { body } = await post(`${world.service}/settle`, settleRequest(bundle, paymentToken));
  if (body["status"] !== "success") throw new Error(`the service does not settle: ${JSON.stringify(body)}`);
  return { bundle, paymentToken, txSignature: String(body["txSignature"]) };
}

/** Makes a payment as an honest client does: verified and settled. */
export const pay = (world: MerchantWorld, wishes: Wishes = {}): Promise<Settled> =>
  settle(world, forgeFor(world, wishes));
