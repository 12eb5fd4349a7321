// A server in a process of its own, which tests can kill. It sends a message when a sale begins; `/paid/slow` never ends.
import { deserialize } from "node:v8";
import { type PrepaidOptions, prepaid as prepaidTokens } from "@sotto/prepaid/server";
import { createPaywall, type PaywallOptions } from "@sotto/resource-server";
import { ADAPTERS } from "./servers.ts";

export interface ServerOrder {
  readonly adapter: string;
  readonly options: PaywallOptions;
  /** Default: no prepaid tokens. */
  readonly prepaid?: PrepaidOptions | undefined;
  /** How far its clock is ahead of the true time, ms. */
  readonly ahead: number;
}

export type ServerMessage = { readonly url: string } | { readonly begun: true } | { readonly error: string };

const send = (message: ServerMessage) => process.send?.(message);
process.once("disconnect", () => process.exit(0));

try {
  const { adapter, options, prepaid, ahead } = deserialize(
    Buffer.from(process.env["SERVER_ORDER"] ?? "", "base64"),
  ) as ServerOrder;
  const methods = prepaid === undefined ? [] : [prepaidTokens(prepaid)];
  const paywall = await createPaywall({ ...options, methods, clock: () => Date.now() + ahead });
  const slow = new Promise<never>(() => undefined);
  const server = await ADAPTERS.get(adapter)!(paywall, async ({ payment }) => {
    send({ begun: true });
    if (payment?.resource.endsWith("/slow")) await slow;
    return { status: 200, text: "the goods" };
  });
  send({ url: server.url });
} catch (error) {
  send({ error: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}
