// A merchant with addresses of months, and its resource servers.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { signAddresses } from "@sotto/client";
import {
  type Deployment,
  deriveKeys,
  type Month,
  type MonthAddresses,
  randomSeed,
  type ViewingKeys,
  type WalletKeys,
} from "@sotto/protocol";
import type { Payment, PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { viewingKeysOf, type Wallet } from "@sotto/wallet";
import { Wallet as Account, type HDNodeWallet } from "ethers";
import express from "express";
import type { MonthWorld } from "./world.ts";

/** 0.01 USDC. */
export const PRICE = 10_000n;

/** What a merchant signs with, and the keys of its wallet. A thief of the account has one, but not the other. */
export class Merchant {
  readonly account: HDNodeWallet;
  readonly seed: Uint8Array;
  readonly keys: WalletKeys;
  readonly #world: MonthWorld;
  readonly #pool: Deployment;

  constructor(world: MonthWorld, { account = Account.createRandom(), seed = randomSeed() }: Partial<Identity> = {}) {
    this.#world = world;
    this.#pool = { chainId: BigInt(world.chainId), pool: world.pool };
    this.account = account;
    this.seed = seed;
    this.keys = deriveKeys(seed, this.#pool);
  }

  /** Its wallet, which is not on the machine of its servers. */
  wallet(): Promise<Wallet> {
    return this.#world.wallet({ seed: this.seed });
  }

  /** Its signed addresses of some months. @param changes another pool or clock to sign them for */
  sign(firstMonth: Month, months: number, changes: Partial<Signing> = {}): Promise<MonthAddresses> {
    const {
      sequence,
      addressOfMonth = (month) => this.keys.ofMonth(month).shieldedAddress,
      pool = this.#pool,
    } = changes;
    const wallet = { pool, now: this.#world.time.now, addressOfMonth };
    return signAddresses(wallet, this.account, { firstMonth, months, sequence });
  }

  viewingKeys(...months: Month[]): ViewingKeys {
    return viewingKeysOf(this.keys, { months });
  }

  /** The viewing and change keys of months. */
  auditKeys(...months: Month[]): ViewingKeys {
    return viewingKeysOf(this.keys, { months, change: true });
  }
}

export interface Identity {
  readonly account: HDNodeWallet;
  readonly seed: Uint8Array;
}

export interface Signing {
  readonly sequence: number | undefined;
  readonly pool: Deployment;
  readonly addressOfMonth: (month: Month) => string;
}

export interface MerchantServer {
  readonly url: string;
  /** The payments of the requests that it answered. */
  readonly sold: Payment[];
  readonly events: PaywallEvent[];
  close(): Promise<void>;
}

export interface ServerOptions extends Partial<PaywallOptions> {
  readonly recipient: PaywallOptions["recipient"];
  /** Whether it waits until the server can check payments. Default: true. */
  readonly ready?: boolean;
  /** Its port; the same port is the same host for clients. */
  readonly port?: number;
}

/** Starts a resource server of a merchant: the paywall in Express. */
export async function openServer(
  world: MonthWorld,
  { ready = true, port = 0, ...options }: ServerOptions,
): Promise<MerchantServer> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events: PaywallEvent[] = [];
  const paywall = sotto({
    origin: url,
    price: "0.01",
    service: world.serviceUrl,
    chain: { rpcUrls: [world.node.url], chainId: world.chainId, pool: world.pool },
    store: "sqlite::memory:",
    clock: world.time.now,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  const sold: Payment[] = [];
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await paywall.close();
  };
  try {
    if (ready) await paywall.ready;
    else paywall.ready.catch(() => undefined);
  } catch (error) {
    await close();
    throw error;
  }
  app.use(paywall);
  app.use((request, response) => {
    sold.push(request.payment!);
    response.type("text").send(`sold ${request.originalUrl}`);
  });
  return { url, sold, events, close };
}
