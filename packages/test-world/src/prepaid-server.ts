// A merchant that sells prepaid tokens: the real paywall on Node's HTTP server, with everything that it sees and stores.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createPrepaidKeys, type PrepaidFiles, type TypedDataSigner } from "@sotto/local/merchant/prepaid-keys";
import { prepaid as prepaidTokens } from "@sotto/prepaid/server";
import type { PaywallEvent, PaywallOptions } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import express from "express";
import { type Merchant, openMerchant } from "./merchant.ts";
import { type LoggedRequest, logRequest, tablesIn } from "./seen.ts";
import type { WorldPlace } from "./wallets.ts";

/** A server of the merchant, with a store of its own. */
export class PrepaidServer {
  readonly url: string;
  readonly requests: LoggedRequest[] = [];
  readonly events: PaywallEvent[] = [];
  /** Called before a request is answered. If it returns true, the connection is destroyed without an answer. */
  interfere: (request: LoggedRequest, response: ServerResponse) => boolean = () => false;
  /** Whether it answers every token with a 402 that refuses it for good; a text is the reason it gives. */
  refusing: boolean | string = false;
  readonly #folder: string;
  readonly #server: Server;
  readonly #close: () => Promise<void>;

  private constructor(url: string, folder: string, server: Server, close: () => Promise<void>) {
    this.url = url;
    this.#folder = folder;
    this.#server = server;
    this.#close = close;
  }

  /** @param port 0 for a free one @param cors which pages may pay the server; default: none */
  static async open(
    merchant: PrepaidMerchant,
    port = 0,
    cors?: NonNullable<PaywallOptions["cors"]>,
  ): Promise<PrepaidServer> {
    const app = express();
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const folder = temporaryFolder("prepaid");
    const files = await merchant.filesOf(url);
    const paywall = sotto({
      origin: url,
      price: merchant.value,
      ...merchant.paywall,
      store: `sqlite:${join(folder, "payments.sqlite")}`,
      methods: [prepaidTokens({ ...files, store: `sqlite:${join(folder, "prepaid.sqlite")}` })],
      onEvent: (event) => prepaid.events.push(event),
      ...(cors && { cors }),
    });
    const prepaid = new PrepaidServer(url, folder, server, () => paywall.close());
    await paywall.ready;
    app.use((request, response, next) => {
      // The paywall removes tokens from the request.
      const logged = logRequest(request, response);
      prepaid.requests.push(logged);
      if (prepaid.interfere(logged, response)) return void request.socket.destroy();
      const { refusing } = prepaid;
      if (refusing !== false && request.headers["x-payment-token"] !== undefined)
        return void response.status(402).json({ error: refusing === true ? "refused" : refusing });
      next();
    });
    app.use(paywall);
    app.use((request, response) => void response.type("text").send(`sold ${request.originalUrl}`));
    return prepaid;
  }

  /** All rows of all tables, as text. */
  tables(): Record<string, Record<string, unknown>[]> {
    return tablesIn(this.#folder, ["payments", "prepaid"]);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#close();
  }
}

/** The merchant of these servers. Its keys are the same for all servers of one origin. */
export interface PrepaidMerchant {
  readonly account: TypedDataSigner;
  readonly paywall: Merchant["paywall"];
  /** Price of every request, base units. */
  readonly value: bigint;
  received(): Promise<bigint>;
  filesOf(origin: string): Promise<PrepaidFiles>;
}

export async function openPrepaidMerchant(
  world: WorldPlace,
  value: bigint,
  signer?: TypedDataSigner,
): Promise<PrepaidMerchant> {
  const { account, paywall, received } = await openMerchant(world, signer);
  const files = new Map<string, Promise<PrepaidFiles>>();
  const pool = { chainId: BigInt(world.chainId), pool: world.pool as `0x${string}` };
  return {
    account,
    paywall,
    value,
    received,
    filesOf(origin) {
      const made = files.get(origin) ?? createPrepaidKeys(account, { ...pool, origin, values: [value] });
      files.set(origin, made);
      return made;
    },
  };
}
