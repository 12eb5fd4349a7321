import type { PaymentInstructions } from "@sotto/protocol";
import type { Seen } from "../../../../client/test/support/merchant.ts";
import { openScene, type Scene } from "../../../../client/test/support/scene.ts";
import type { World } from "../../../../wallet/test/support/world.ts";
import {
  encodeChallenge,
  encodeCharge,
  encodeReceipt,
  type Json,
  type MppChallenge,
  type MppReceipt,
  parseCredential,
  paymentSchemes,
} from "../../../src/index.ts";

/** A scene whose merchant asks for payments in MPP's format only. Tests can falsify each part of its responses. */
export class MppMerchant {
  readonly scene: Scene;
  /** The credentials that it got. */
  readonly credentials: { readonly challenge: MppChallenge; readonly payload: Json }[] = [];
  /** Changes the terms of a 402 before they become a challenge. */
  terms: (instructions: Changeable) => void = () => undefined;
  /** Parameters that replace those of the challenge. */
  challenge: Partial<MppChallenge> = {};
  /** Makes WWW-Authenticate from the challenge. */
  header: (own: string) => string = (own) => own;
  /** Which credentials it accepts. */
  accepts: (challenge: MppChallenge) => boolean = () => true;
  /** Null leaves the receipt out; a text replaces it. */
  receipt: Partial<MppReceipt> | string | null = {};
  #asked = 0;

  constructor(scene: Scene) {
    this.scene = scene;
    scene.merchant.misbehave = (seen, answer) => this.#answer(seen, answer);
  }

  static async open(shared?: World): Promise<MppMerchant> {
    return new MppMerchant(await openScene({}, shared));
  }

  async #answer({ headers }: Seen, answer: () => Promise<Response>): Promise<Response> {
    const values = ["authorization", "payment-authorization"].flatMap((name) => headers.get(name) ?? []);
    const [token] = paymentSchemes(values).flatMap(({ rest }) => rest);
    if (token !== undefined) {
      const { challenge, payload } = parseCredential(token);
      this.credentials.push({ challenge, payload });
      if (this.accepts(challenge)) {
        headers.set("x-payment-proof", JSON.stringify(payload));
        const response = await answer();
        const { receipt } = this;
        if (receipt === null) return response;
        const own = {
          challengeId: challenge.id,
          reference: payload["txSignature"] as MppReceipt["reference"],
          timestamp: "2026-11-28T12:00:00Z",
        };
        const value = typeof receipt === "string" ? receipt : encodeReceipt({ ...own, ...receipt });
        response.headers.set("payment-receipt", value);
        return response;
      }
    }
    const demanded = await answer();
    if (demanded.status !== 402) return demanded;
    const instructions = (await demanded.json()) as PaymentInstructions;
    this.terms(instructions as unknown as Changeable);
    const own = encodeChallenge(this.#challengeOf(instructions));
    return new Response("pay", { status: 402, headers: { "www-authenticate": this.header(own) } });
  }

  #challengeOf({ payment, metadata }: PaymentInstructions): MppChallenge {
    const { recipient, schedule, chainId, pool, asset, decimals, amountBaseUnits, verifyEndpoint } = payment;
    const { wallet, shieldedAddress: key, phone, service, issuedAt, signature } = recipient;
    this.#asked += 1;
    return {
      id: `id-${this.#asked}`,
      realm: "the realm",
      method: "sotto",
      intent: "charge",
      request: encodeCharge({
        amount: BigInt(amountBaseUnits),
        asset,
        decimals,
        binding: { chainId: BigInt(chainId), pool, wallet, key, phone, service, issuedAt },
        signature,
        ...(schedule && { schedule }),
        service: verifyEndpoint.replace(/\/verify$/, ""),
        resource: metadata.resource,
      }),
      expires: new Date(this.scene.world.clock() + 300_000).toISOString(),
      ...this.challenge,
    };
  }
}

/** Payment instructions that a test changes. */
export interface Changeable {
  readonly payment: Record<string, unknown> & { readonly recipient: Record<string, unknown> };
  readonly metadata: { resource: string };
}
