// A payer who writes its own headers.
import type { WireBundle } from "@sotto/protocol";
import { expect } from "chai";
import type { Payment } from "../../world/bundles.ts";
import type { World } from "../../world/service.ts";
import { pay } from "../../world/x402.ts";
import { decode, encode } from "./resource-server.ts";

/** Requirements as they are in a challenge. */
export type Accepted = { extra: Record<string, unknown>; amount: string; payTo: string } & Record<string, unknown>;

/** What the server asks for. */
export async function challenge(url: string): Promise<Accepted> {
  const response = await fetch(url);
  expect(response.status).to.equal(402);
  return (decode(response.headers.get("payment-required"))["accepts"] as Accepted[])[0]!;
}

/** A payment of what is asked, whose proofs hold. */
export const bundleFor = (world: World, root: bigint, accepted: Accepted, payment: Partial<Payment> = {}): WireBundle =>
  pay(world, { root, recipient: accepted.payTo, resourceUrl: String(accepted.extra["resource"]), ...payment });

export const headerOf = (accepted: object, payload: object, version = 2): string =>
  encode({ x402Version: version, resource: { url: "http://anything/" }, accepted, payload });

/** As headerOf, without what the published client adds: values may be too long for a header as they are. */
export const encodeHeader = (accepted: object, payload: object): string =>
  encode({ x402Version: 2, accepted, payload });

export interface Shown {
  readonly status: number;
  readonly body: string;
  /** The new challenge. */
  readonly required: Record<string, unknown>;
  /** PAYMENT-RESPONSE. */
  readonly answer: Record<string, unknown>;
}

export async function show(url: string, header: string, name = "PAYMENT-SIGNATURE"): Promise<Shown> {
  const response = await fetch(url, { headers: { [name]: header } });
  const { status, headers } = response;
  const [required, answer] = [decode(headers.get("payment-required")), decode(headers.get("payment-response"))];
  return { status, body: await response.text(), required, answer };
}
