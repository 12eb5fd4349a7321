import { FIRST_PRICE, usdc } from "../amounts.ts";
import { short } from "../observer.ts";
import type { Step } from "../step.ts";
import { progress } from "../terminal.ts";
import type { World } from "../world.ts";

export const ARTICLE = "https://news.example/articles/42";
export const REPORT = "https://news.example/reports/7";

/** The payer's wallet makes a payment; it is not sent yet. */
export function makePayment(world: World, amount: bigint, resourceUrl: string) {
  const { account, wallet } = world.merchant;
  const recipient = { wallet: account.address, shieldedAddress: wallet.shieldedAddress };
  const request = { recipient, amount, resourceUrl };
  return progress(world.screen, "proving the payment and its amount", () => world.payer.wallet.pay(request));
}

/** Both proofs are made where the secrets are. */
export const pay: Step = {
  title: "The payer makes a private payment: two proofs, on the payer's own machine",
  async play(world) {
    world.payment = await makePayment(world, FIRST_PRICE, ARTICLE);
    return {
      payer: [
        `pays ${usdc(FIRST_PRICE)} for ${ARTICLE}`,
        `change ${usdc(world.payer.wallet.balance().total - FIRST_PRICE)}`,
        `holds the proofs; they are good until ${new Date(world.payment.validUntil * 1000).toISOString()}`,
      ],
      merchant: [`published its address ${short(world.merchant.wallet.shieldedAddress)}`],
      observer: ["nothing: no transaction yet"],
      service: ["nothing: no request"],
    };
  },
};
