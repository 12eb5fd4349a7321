import { payPhone, phonePin } from "@sotto/client";
import { CommandError } from "../../lib/command.ts";
import { TIP, usdc } from "../amounts.ts";
import { short } from "../observer.ts";
import type { Step } from "../step.ts";
import { progress } from "../terminal.ts";
import { PHONE } from "../world.ts";

export const number: Step = {
  title: "The agent pays a phone number",
  async play(world) {
    const { agent, service, screen } = world;
    const request = { phone: PHONE, amount: TIP, key: "thanks" };
    const first = await progress(screen, `paying ${PHONE}`, () => payPhone(agent.wallet, service, request));
    const again = await payPhone(agent.wallet, service, request);
    if (again.txSignature !== first.txSignature) throw new CommandError("PAID_TWICE", "the number was paid twice");
    const pin = await phonePin(agent.wallet.store, PHONE);
    await agent.wallet.scan();
    return {
      agent: [
        `paid ${usdc(first.amount)} to ${short(first.wallet)} in ${short(first.txSignature)}`,
        'under the key "thanks" it is paid once: the second call returned the same payment',
        `remembers that the number is ${short(pin?.wallet ?? "")}: should it lead elsewhere, it asks before it pays`,
      ],
      merchant: ["gave nobody anything but its number"],
    };
  },
};
