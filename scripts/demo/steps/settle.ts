import { CommandError } from "../../lib/command.ts";
import { FIRST_PRICE, usdc } from "../amounts.ts";
import { observe } from "../observer.ts";
import { seenInPayment } from "../service-view.ts";
import { receiptOf, type Step } from "../step.ts";
import type { World } from "../world.ts";

/** The service checks before it pays gas: only for what it verified does it give the token that settles. */
export async function settlePayment(world: World) {
  const { payment, service } = world;
  if (payment === undefined) throw new CommandError("NO_PAYMENT", "there is no payment to settle");
  delete world.payment;
  const { bundle } = payment;
  const { paymentToken, expiresIn } = await service.verify(bundle);
  const receipt = await receiptOf(world, (await service.settle(bundle, paymentToken)).txSignature);
  return { receipt, service: seenInPayment(bundle, expiresIn) };
}

export const settle: Step = {
  title: "The payer sends the proofs to the service, which verifies them and settles the payment on the chain",
  async play(world) {
    const { receipt, service } = await settlePayment(world);
    await world.payer.wallet.scan();
    return {
      payer: [
        `paid ${usdc(FIRST_PRICE)}, paid no gas`,
        `shielded balance ${usdc(world.payer.wallet.balance().total)}: the change waits in the queue`,
      ],
      merchant: ["its server has not looked yet"],
      observer: observe(world, receipt),
      service,
    };
  },
};
