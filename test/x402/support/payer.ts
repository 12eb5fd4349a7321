// A client that writes its own headers, without the published client.
import type { WireBundle } from "@sotto/protocol";
import type { Payment } from "@sotto/test-world/bundles";
import type { World } from "@sotto/test-world/service";
import { pay } from "@sotto/test-world/x402";
import { expect } from "chai";
import { decode, encode } from "./resource-server.ts";

/** The requirements in a challenge. */
export type Accepted = { extra: Record<string, unknown>; amount: string; payTo: string } & Record<string, unknown>;

/** Requests a URL without a payment. @returns the server's requirements */
export async function challenge(url: string): Promise<Accepted> {
  const response = await fetch(url);
  expect(response.status).to.equal(402);
  return (decode(response.headers.get("payment-required"))["accepts"] as Accepted[])[0]!;
}

/** A payment for the accepted requirements, with valid proofs. */
export const bundleFor = (world: World, root: bigint, accepted: Accepted, payment: Partial<Payment> = {}): WireBundle =>
  pay(world, { root, recipient: accepted.payTo, resourceUrl: String(accepted.extra["resource"]), ...payment });

export const headerOf = (accepted: object, payload: object, version = 2): string =>
  encode({ x402Version: version, resource: { url: "http://anything/" }, accepted, payload });

/** Like headerOf, without the published client's additions, because some values are already too long for a header. */
export const encodeHeader = (accepted: object, payload: object): string =>
  encode({ x402Version: 2, accepted, payload });

export interface Shown {
  readonly status: number;
  readonly body: string;
  /** The new challenge. */
  readonly required: Record<string, unknown>;
  /** The decoded PAYMENT-RESPONSE header. */
  readonly answer: Record<string, unknown>;
}

export async function show(url: string, header: string, name = "PAYMENT-SIGNATURE"): Promise<Shown> {
  const response = await fetch(url, { headers: { [name]: header } });
  const { status, headers } = response;
  const [required, answer] = [decode(headers.get("payment-required")), decode(headers.get("payment-response"))];
  return { status, body: await response.text(), required, answer };
}
