// The merchant's four shops as a child process of the demo, so that proving in the parent does not keep them from
// answering. It is told its options over the IPC channel, because a viewing key is among them.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PaywallOptions } from "@sotto/resource-server";
import type { ChildMessage } from "./child.ts";
import { kinds } from "./shops/kinds.ts";
import { HOST, type OpenShop } from "./shops/shop.ts";

/** What all of them have in common. */
export type ShopsOrder = Omit<PaywallOptions, "origin" | "price">;

export interface Shop {
  readonly name: string;
  readonly framework: string;
  readonly line: string;
  /** Where it is: payments are bound to it. */
  readonly origin: string;
  /** In whole tokens. */
  readonly price: string;
}

const send = (message: ChildMessage<readonly Shop[]>) => process.send?.(message);
process.once("disconnect", () => process.exit(0));
if (!process.connected) process.exit(0);
process.on("SIGINT", () => {});

/** A shop has to know its address before it opens. All at once, so that they are different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, HOST));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

async function open(order: ShopsOrder): Promise<readonly Shop[]> {
  const ports = await freePorts(kinds.length);
  const opened: OpenShop[] = [];
  process.once("SIGTERM", () => {
    void Promise.allSettled(opened.map((shop) => shop.close())).finally(() => process.exit(0));
  });
  const opening = kinds.map(async (kind, index) => {
    const port = ports[index]!;
    const { name, framework, line, price } = kind;
    const origin = `http://${HOST}:${port}`;
    opened.push(await kind.open({ ...order, origin, price }, port));
    return { name, framework, line, price, origin };
  });
  return Promise.all(opening);
}

process.once("message", (order: ShopsOrder) => {
  open(order).then(
    (shops) => send({ started: shops }),
    (error: Error & { code?: string }) => {
      send({ error: { code: error.code ?? "SHOP_FAILED", message: error.message } });
      process.disconnect();
    },
  );
});
