import { readFileSync } from "node:fs";
import { signPhoneLink } from "@sotto/client";
import { CommandError } from "../../lib/command.ts";
import { short } from "../observer.ts";
import { codeFile } from "../service.ts";
import type { Step } from "../step.ts";
import { PHONE, type World } from "../world.ts";

/** What the development sender wrote in place of sending a text message. */
function codeFromSms({ folder }: World): string {
  const lines = readFileSync(codeFile(folder), "utf8").trim().split("\n");
  const messages = lines.map((line) => JSON.parse(line) as { phoneNumber: string; code: string });
  const message = messages.findLast(({ phoneNumber }) => phoneNumber === PHONE);
  if (message === undefined) throw new CommandError("NO_CODE", "no code was sent to the merchant's number");
  return message.code;
}

export const link: Step = {
  title: "A merchant links its phone number to its wallet",
  async play(world) {
    const { merchant, service: registry } = world;
    const signed = await signPhoneLink(merchant.wallet, merchant.account, { phone: PHONE, service: registry.url });
    const { phoneNumber, walletAddress, issuedAt, signature, encryptionPublicKey } = signed;
    await registry.link({ ...signed });
    await registry.phoneVerify({ phoneNumber, walletAddress, code: codeFromSms(world) });
    const { wallet, verified } = await registry.resolve(PHONE);
    if (!verified || wallet.toLowerCase() !== walletAddress)
      throw new CommandError("NOT_LINKED", "the number does not lead to the merchant's wallet");
    world.recipient = {
      ...{ wallet: walletAddress, shieldedAddress: encryptionPublicKey, signature, issuedAt },
      ...{ phone: PHONE, service: registry.url },
    };
    return {
      merchant: [
        `signed: ${PHONE} is paid privately at ${short(encryptionPublicKey)}`,
        "showed the code that was sent to the phone",
        `now the number leads to ${short(wallet)}, verified`,
      ],
    };
  },
};
