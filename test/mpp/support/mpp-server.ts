// A merchant that is paid with MPP, on any adapter, and settled payments for it.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { encodeCredential, type Json, type MppChallenge, parseChallenges, proofPayload } from "@sotto/mpp";
import { type MppOptions, mpp } from "@sotto/mpp/server";
import {
  createPaywall,
  type PaymentMethod,
  type Paywall,
  type PaywallEvent,
  type PaywallOptions,
} from "@sotto/resource-server";
import { paywallOptions } from "@sotto/test-world/paywall/options";
import { headerOf } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, ORIGIN, pay } from "@sotto/test-world/paywall/world";
import type { ResourceServer, Sale, SaleHandler, StartServer } from "../../resource-server/support/servers.ts";

export const SECRET = "the-secret-of-these-tests-of-mpp-0";

export interface MppServer {
  readonly paywall: Paywall;
  readonly url: string;
  readonly sales: Sale[];
  readonly events: PaywallEvent[];
  /** What the handler does with paid requests. */
  handler: SaleHandler;
  close(): Promise<void>;
}

export interface MppServerOptions extends Partial<PaywallOptions> {
  readonly mpp?: Partial<MppOptions>;
  /** Methods beside MPP. */
  readonly others?: readonly PaymentMethod[];
}

export async function openMppServer(
  world: MerchantWorld,
  start: StartServer,
  { mpp: options = {}, others = [], ...changes }: MppServerOptions = {},
): Promise<MppServer> {
  const sales: Sale[] = [];
  const events: PaywallEvent[] = [];
  const paywall = await createPaywall({
    ...paywallOptions(world),
    store: `sqlite:${join(world.folder, `${randomUUID()}.sqlite`)}`,
    methods: [mpp({ secret: SECRET, ...options }), ...others],
    onEvent: (event) => void events.push(event),
    ...changes,
  });
  const running: Omit<MppServer, "url" | "close"> = {
    paywall,
    sales,
    events,
    handler: () => ({ status: 200, text: "the goods" }),
  };
  const server: ResourceServer = await start(paywall, (sale) => {
    sales.push(sale);
    return running.handler(sale);
  });
  return Object.assign(running, {
    url: server.url,
    close: async () => {
      await server.close();
      await paywall.close();
    },
  });
}

/** The only challenge of a 402. */
export function challengeOf(response: Response): MppChallenge {
  const found = parseChallenges(response.headers.get("www-authenticate") ?? "");
  if (found.length !== 1) throw new Error(`expected one challenge, got ${found.length}`);
  return found[0]!;
}

/** A settled payment for a target, as the payload of a credential. */
export const paid = async (world: MerchantWorld, target = "/paid/a"): Promise<Json> =>
  proofPayload(headerOf(await pay(world, { target })));

export const credential = (challenge: MppChallenge, payload: Json): Record<string, string> => ({
  authorization: encodeCredential({ challenge, payload }),
});

/** The URL of a target at the origin of the paywall. */
export const resourceOf = (target: string): string => ORIGIN + target;
