import { amountFields, type Command, counted, money, printable, serviceOf, toUrl, withWallet } from "@sotto/cli-kit";
import { MAX_AMOUNT, SottoError } from "@sotto/protocol";
import { mergePrepaid, prepaid } from "../client.ts";
import { chargeFields } from "./list.ts";

export const prepaidMerge: Command = {
  name: "prepaid merge",
  summary: "Claims the change of metered requests, and swaps small tokens for larger ones.",
  positionals: ["[ORIGIN]"],
  options: {},
  details: [
    "Pays nothing. A request of a metered route shows a token that is worth its maximum price; the merchant signs new tokens for",
    "the rest. Without ORIGIN, for all merchants. A merchant can see that swaps which it is asked for at once are of one",
    "payer: a program that runs longer makes them by itself, at random times.",
  ],
  async run(context) {
    const given = context.args.optional(0);
    const origin = given === undefined ? undefined : new URL(toUrl(given, "ORIGIN")).origin;
    return withWallet(context, false, async ({ config, wallet }) => {
      const { signal } = context;
      const services = [serviceOf(config).url];
      const methods = [prepaid({ maxPerHost: MAX_AMOUNT, mirrors: "services", buy: false })];
      const options = { services, maxPerRequest: MAX_AMOUNT, methods };
      const { charges, swaps, open, problems } = await mergePrepaid(fetch, wallet, options, { origin, signal });
      for (const problem of problems) if (problem instanceof SottoError) context.output.note(problem.message);
      const sum = charges.reduce((total, { change }) => total + change, 0n);
      return {
        json: {
          charges: charges.map((charge) => chargeFields(charge, config)),
          change: amountFields(sum, config),
          swaps,
          open,
        },
        text: [
          ...charges.map(({ origin: at, charge }) => `${printable(at)} charged ${money(charge, config)}`),
          `${money(sum, config)} of change and ${counted(swaps, "swap")} arrived; still open: ${counted(open, "request")}`,
        ],
      };
    });
  },
};
