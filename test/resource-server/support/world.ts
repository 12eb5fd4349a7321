// A local chain, the service as a process of its own, and a merchant: what the tests of this folder share.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WireBundle } from "@sotto/protocol";
import { atEnd } from "../../kit/at-end.ts";
import { post } from "../../kit/http.ts";
import { settleRequest } from "../../world/bundles.ts";
import { closeWorld, environment, openWorld, type World } from "../../world/service.ts";
import { type ServiceProcess, startProcess, stopProcess } from "../../world/service-process.ts";
import { createMerchant, type Merchant } from "./merchant.ts";
import { forge, type Terms } from "./payments.ts";

/** What the shops of these tests call themselves: wherever they listen, payments are for this. */
export const ORIGIN = "https://data.example";
/** 0.01 USDC. */
export const PRICE = 10_000n;

export interface MerchantWorld extends World {
  /** Base address of the service. */
  readonly service: string;
  readonly merchant: Merchant;
  /** For files that end with the world. */
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
  const folder = mkdtempSync(join(tmpdir(), "sotto-merchant-"));
  // A process of its own: forging proofs here would keep one in this process from answering.
  const service: ServiceProcess = await startProcess({ ...environment(world, folder), SOTTO_LOG_LEVEL: "silent" });
  const end = async () => {
    await stopProcess(service);
    rmSync(folder, { recursive: true, force: true });
    await closeWorld();
  };
  const merchant = await createMerchant(world);
  return { world: { ...world, service: service.url, merchant, folder }, end };
}

/** The last thing the folder's tests do. */
export async function closeMerchantWorld(): Promise<void> {
  const opened = await shared;
  shared = undefined;
  await opened?.end();
}

atEnd(closeMerchantWorld);

type Wishes = Partial<Terms> & { readonly target?: string };

/** A payment of the price to the merchant for `ORIGIN` and the target, unless told otherwise; not yet verified. */
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

/** A payment as an honest payer makes it: verified and settled. */
export const pay = (world: MerchantWorld, wishes: Wishes = {}): Promise<Settled> =>
  settle(world, forgeFor(world, wishes));
