import { join } from "node:path";
import { meteredCredit, prepaid } from "@sotto/prepaid/server";
import type { PaywallOptions } from "@sotto/resource-server";
import { CHAT_PATH } from "./chat.ts";
import { openCredit } from "./credit.ts";
import { readDeployment } from "./deployment.ts";
import { RULE, signedPrices } from "./price.ts";
import { onEvent, openRecipient } from "./recipient.ts";
import { folder, nodes, origin, service } from "./settings.ts";

const deployment = await readDeployment(service);
const recipient = await openRecipient(folder, deployment);
const route = { method: "POST", path: CHAT_PATH, rule: RULE };
const credit = await openCredit(folder, { deployment, origin, route });
export const priceNow = signedPrices(credit.terms.terms, CHAT_PATH);
const tokens = prepaid({ ...credit.tokens, guard: join(folder, "credit.guard") });

export const options: PaywallOptions = {
  origin,
  price: () => priceNow().quote,
  methods: [tokens, meteredCredit({ prepaid: tokens, ...credit.terms, maxSeconds: 300 })],
  recipient,
  service,
  chain: { ...deployment, rpcUrls: nodes },
  onEvent,
  // All servers of one recipient share it: a payment is for one request.
  store: `sqlite:${join(folder, "payments.sqlite")}`,
};
