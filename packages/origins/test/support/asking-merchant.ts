// A merchant that asks for the origin of each payment, with the attachment that paywalls use.
import { PAYMENT_SIGNAL, parseProofHeader } from "@sotto/protocol";
import type { AttachmentCore, OpenAttachment, PaidProof, PaywallEvent } from "@sotto/resource-server";
import { eventually } from "@sotto/test-kit/eventually";
import { Merchant, newIdentity, type Seen } from "../../../client/test/support/merchant.ts";
import { headPackPath } from "../../src/index.ts";
import { origins, type ShownSet } from "../../src/server.ts";
import { verifier } from "./artifacts.ts";
import { CURATOR, type Payers } from "./payer.ts";

/** Checks a proof of origin as a paywall and a service do: what is not a proof is not valid. */
export const verifyShown: AttachmentCore["verify"] = (...statement) => verifier.verify(...statement).catch(() => false);

export class AskingMerchant extends Merchant {
  /** What it saw of each payment. */
  readonly shown: (readonly ShownSet[])[] = [];
  readonly events: PaywallEvent[] = [];
  #attachment: OpenAttachment | undefined;

  static async create(payers: Payers): Promise<AskingMerchant> {
    return new AskingMerchant(await newIdentity(payers.world, await payers.world.wallet()));
  }

  /**
   * Starts to watch the set of the payers' curator, and has read its newest head afterwards.
   * @param send reads heads and sends claims
   */
  async open(payers: Payers, send: typeof fetch = payers.fetch): Promise<void> {
    const { world, set, curator } = payers;
    let isRead = false;
    const core: AttachmentCore = {
      origin: this.origin,
      deployment: world.pool.deployment,
      clock: world.clock,
      report: (event) => void this.events.push(event),
      verify: verifyShown,
    };
    const options = { curator: CURATOR, key: set.curator, name: curator.name };
    const watched: typeof fetch = async (input, init) => {
      const response = await send(input, init);
      // A watch that begins reads the newest head and then its pack.
      isRead ||= String(input).endsWith(headPackPath(0));
      return response;
    };
    this.#attachment = await origins({ sets: [options], fetch: watched }).open(core);
    await eventually(async () => isRead);
  }

  /** Sends the claims of what was shown, and stops. */
  async close(): Promise<void> {
    await this.#attachment?.close?.();
  }

  protected override demand(target: string, price: bigint, offers: object = {}, message?: string): Response {
    return super.demand(target, price, { origins: this.#attachment!.asks(), ...offers }, message);
  }

  protected override async answer(seen: Seen): Promise<Response> {
    const proof = seen.headers.get("x-payment-proof");
    const response = await super.answer(seen);
    if (proof === null) return response;
    const { publicSignals, timestamp } = parseProofHeader(proof);
    const nullifier = BigInt(publicSignals[PAYMENT_SIGNAL.nullifier]!);
    this.shown.push(await this.read({ nullifier, timestamp }, seen.headers.get("x-payment-origin")));
    return response;
  }

  /** Asks for a payment, also if there is one. */
  ask(target: string, message: string): Response {
    return this.demand(target, this.price, {}, message);
  }

  /** The sets in which a header shows the note of a payment. */
  read(payment: Pick<PaidProof, "nullifier" | "timestamp">, header: string | null): Promise<readonly ShownSet[]> {
    const values = header === null ? [] : [header];
    const shown = { payment: payment as PaidProof, header: () => values };
    return this.#attachment!.read(shown) as Promise<readonly ShownSet[]>;
  }
}
