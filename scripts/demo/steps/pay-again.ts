import { SECOND_PRICE, usdc } from "../amounts.ts";
import { observe } from "../observer.ts";
import type { Step } from "../step.ts";
import { makePayment, REPORT } from "./pay.ts";
import { settlePayment } from "./settle.ts";

export const payAgain: Step = {
  title: "The payer pays again, from the change the restored wallet found; the service settles",
  async play(world) {
    const { merchant, payer } = world;
    world.payment = await makePayment(world, SECOND_PRICE, REPORT);
    const { receipt, service } = await settlePayment(world);
    await payer.wallet.scan();
    await merchant.server.scan();
    return {
      payer: [`paid ${usdc(SECOND_PRICE)} for ${REPORT}`, `shielded balance ${usdc(payer.wallet.balance().total)}`],
      merchant: [
        `its server: received in all ${usdc(merchant.server.total())}, in ${merchant.server.received().length} payments`,
      ],
      observer: [...observe(world, receipt), "nothing links it to the first payment"],
      service,
    };
  },
};
