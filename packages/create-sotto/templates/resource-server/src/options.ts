import { join } from "node:path";
import type { PaywallOptions } from "@sotto/resource-server";
import { readDeployment } from "./deployment.ts";
import { onEvent, openRecipient } from "./recipient.ts";
import { folder, nodes, origin, service } from "./settings.ts";

const deployment = await readDeployment(service);

export const options: PaywallOptions = {
  origin,
  price: "0.01",
  recipient: await openRecipient(folder, deployment),
  service,
  chain: { ...deployment, rpcUrls: nodes },
  onEvent,
  // All servers of one recipient share it: a payment is for one request.
  store: `sqlite:${join(folder, "payments.sqlite")}`,
};
