import { amountFields, type Command, type Context, money, printable, toUrl, usage, withWallet } from "@sotto/cli-kit";
import type { Wallet } from "@sotto/wallet";
import { dropPrepaid, listPrepaid, resumePrepaid } from "../client.ts";

const originOf = ({ args }: Context): string => new URL(toUrl(args.positional(0, "ORIGIN"), "ORIGIN")).origin;

/** @throws CliError USAGE if the wallet never had prepaid tokens at this origin */
async function assertKnown(wallet: Wallet, origin: string): Promise<void> {
  if ((await listPrepaid(wallet)).some((each) => each.origin === origin)) return;
  throw usage(`this wallet has no prepaid tokens at ${printable(origin)}`);
}

export const prepaidResume: Command = {
  name: "prepaid resume",
  summary: "Allows prepaid tokens at a merchant again, after they were stopped there.",
  positionals: ["ORIGIN"],
  options: {},
  details: [
    "They are stopped if the merchant refuses a token, returns a wrong signature or has two keys for one value.",
  ],
  async run(context) {
    const origin = originOf(context);
    return withWallet(context, false, async ({ wallet }) => {
      await assertKnown(wallet, origin);
      await resumePrepaid(wallet, origin);
      return { json: { origin, resumed: true }, text: ["resumed"] };
    });
  },
};

export const prepaidDrop: Command = {
  name: "prepaid drop",
  summary: "Gives up all prepaid tokens at a merchant.",
  positionals: ["ORIGIN"],
  options: {},
  details: ["Their value is lost: the merchant was paid when they were bought."],
  async run(context) {
    const origin = originOf(context);
    return withWallet(context, false, async ({ config, wallet }) => {
      await assertKnown(wallet, origin);
      const lost = await dropPrepaid(wallet, origin);
      return { json: { origin, dropped: amountFields(lost, config) }, text: [`gave up ${money(lost, config)}`] };
    });
  },
};
