import { settleCall } from "@sotto/client";
import { CommandError } from "../../lib/command.ts";
import { FIRST_PRICE, usdc } from "../amounts.ts";
import { observe } from "../observer.ts";
import { relay, type Step } from "../step.ts";
import type { World } from "../world.ts";

/** The relayer checks before it pays gas, as a stranger would have to. */
export async function settlePayment(world: World) {
  const { payment, verifier } = world;
  if (payment === undefined) throw new CommandError("NO_PAYMENT", "there is no payment to settle");
  const { bundle } = payment;
  const holds =
    (await verifier.verify("payment", bundle.proof, bundle.publicSignals)) &&
    (await verifier.verify("elgamal_range", bundle.amountProof, bundle.amountPublicSignals));
  if (!holds) throw new CommandError("INVALID_PROOF", "the payment's proofs do not hold");
  delete world.payment;
  return relay(world, settleCall(world.pool, [payment.settle]));
}

export const settle: Step = {
  title: "The relayer verifies the proofs and settles the payment on the chain",
  async play(world) {
    const receipt = await settlePayment(world);
    await world.payer.wallet.scan();
    return {
      payer: [
        `paid ${usdc(FIRST_PRICE)}, paid no gas`,
        `shielded balance ${usdc(world.payer.wallet.balance().total)}: the change waits in the queue`,
      ],
      merchant: ["its server has not looked yet"],
      observer: observe(world, receipt),
    };
  },
};
