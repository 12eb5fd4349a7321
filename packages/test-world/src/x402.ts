// The requirements of a resource server and the payments of a client, in the format of x402.
import { encodeShieldedAddress, type WireBundle } from "@sotto/protocol";
import { X402_SCHEME, type X402Requirements, x402Network } from "@sotto/protocol/x402";
import { forgeBundle, merchantKey, merchantTag, type Payment, RECIPIENT, RESOURCE } from "./bundles.ts";
import type { World } from "./service.ts";

export const PRICE = 1_000_000n;

export type Changes = Partial<Omit<X402Requirements, "extra">> & { readonly extra?: Readonly<Record<string, unknown>> };

export function requirements(world: World, service: string, changes: Changes = {}): X402Requirements {
  const recipient = {
    shieldedAddress: encodeShieldedAddress({ encryptionKey: merchantKey, ownerTag: merchantTag }),
    signature: `0x${"11".repeat(65)}`,
    issuedAt: 1_795_243_800,
  };
  const extra = { pool: world.pool, decimals: 6, resource: RESOURCE, service, recipient, ...changes.extra };
  return {
    scheme: X402_SCHEME,
    network: x402Network(BigInt(world.chainId)),
    asset: world.token,
    amount: String(PRICE),
    payTo: RECIPIENT,
    maxTimeoutSeconds: 300,
    ...changes,
    extra,
  };
}

export interface X402Body {
  readonly x402Version: number;
  readonly paymentPayload: {
    readonly x402Version: number;
    readonly accepted: X402Requirements;
    readonly payload: WireBundle;
  };
  readonly paymentRequirements: X402Requirements;
}

export function bodyOf(asked: X402Requirements, payload: WireBundle): X402Body {
  const paymentPayload = { x402Version: 2, accepted: asked, payload };
  return { x402Version: 2, paymentPayload, paymentRequirements: asked };
}

/** A payment of the full price whose proofs verify. */
export const pay = (world: World, payment: Payment): WireBundle => forgeBundle(world, { amount: PRICE, ...payment });
