import {
  agrees,
  CliError,
  type Command,
  type Config,
  type Context,
  canAsk,
  money,
  PAYING,
  parseLimits,
  payOptions,
  printable,
  readConfig,
  serviceOf,
  toUrl,
  withWallet,
} from "@sotto/cli-kit";
import { quotePayment } from "@sotto/client";
import { MAX_AMOUNT } from "@sotto/protocol";
import { buyPrepaid, type PrepaidOptions, prepaid, restorePrepaid } from "../client.ts";
import { packFields } from "./list.ts";

/** The mirrors that the user names, or the wallet's service. */
function prepaidOptions({ args }: Context, config: Config): PrepaidOptions {
  const named = args.texts("mirror");
  const maxPerHost = args.amount("max-unspent", config.decimals) ?? MAX_AMOUNT;
  return { maxPerHost, mirrors: named.length === 0 ? [serviceOf(config).url] : named, buy: false };
}

export const prepaidBuy: Command = {
  name: "prepaid buy",
  summary: "Buys a pack of prepaid tokens for the price of a URL, or resumes its purchase.",
  positionals: ["URL"],
  options: {
    mirror: {
      value: "URL",
      help: "base URL of a service that keeps keys; can be repeated; default: the wallet's service",
      multiple: true,
    },
    "max-unspent": { value: "AMOUNT", help: "maximum value of unspent tokens at this merchant, with the new pack" },
    ...PAYING,
  },
  details: [
    "One private payment buys 100 tokens, and 1000 once the merchant has delivered a pack. --max is the highest price of",
    "one request. Each token pays for one request: `sotto pay` and `sotto request` spend them, and nobody can link them",
    "to the payment or to each other. Tokens are valid until the end of the next month (UTC). A merchant can refuse to",
    "take its tokens: --max-unspent limits what is at stake. The merchant's key is compared with the mirrors.",
  ],
  async run(context) {
    const url = toUrl(context.args.positional(0, "URL"), "URL");
    const known = readConfig(context.home);
    const limits = parseLimits(context, known);
    const methods = [prepaid(prepaidOptions(context, known))];
    return withWallet(context, true, async (session) => {
      const { config, wallet } = session;
      const { origin } = new URL(url);
      const { signal } = context;
      const quote = await quotePayment(fetch, wallet, { services: [serviceOf(config).url] }, url, { signal });
      if (quote.offer === undefined) {
        await quote.response.body?.cancel();
        throw new CliError("REFUSED", `${origin} answers ${quote.response.status} and asks for no payment`);
      }
      const value = quote.offer.price;
      const options = { ...payOptions(session, limits), methods };
      context.output.progress(`buying tokens of ${money(value, config)} at ${printable(origin)}`);
      const pack = await buyPrepaid(fetch, wallet, options, { origin, value, signal });
      return {
        json: { origin, ...packFields(pack, config) },
        text: [`${pack.left} tokens of ${money(value, config)} at ${printable(origin)}`],
      };
    });
  },
};

export const prepaidRestore: Command = {
  name: "prepaid restore",
  summary: "After the wallet was restored from its words: finds the packs that it bought at a merchant.",
  positionals: ["ORIGIN"],
  options: {},
  details: [
    "Pays nothing. The wallet does not know which tokens of these packs were spent: it spends them from the end, and the",
    "first one that the merchant refuses ends the pack. After every ten packs the command asks whether to look for more,",
    "because a merchant could sign packs that were never bought; without a terminal it ends there.",
  ],
  async run(context) {
    const { origin } = new URL(toUrl(context.args.positional(0, "ORIGIN"), "ORIGIN"));
    // Nothing is bought: no limit applies, and no key needs to be compared.
    const methods = [prepaid({ maxPerHost: MAX_AMOUNT, mirrors: [], buy: false })];
    return withWallet(context, false, async ({ config, wallet }) => {
      const { signal } = context;
      const options = { services: [serviceOf(config).url], maxPerRequest: MAX_AMOUNT, methods };
      const confirmMore = async (found: number): Promise<boolean> => {
        const so = `found ${found} packs at ${printable(origin)}`;
        if (canAsk(context)) return agrees(context, `${so}; look for more?`, "run the command again");
        context.output.note(`${so}; run the command again to look for more`);
        return false;
      };
      const packs = await restorePrepaid(fetch, wallet, options, origin, { signal, confirmMore });
      return {
        json: packs.map((pack) => ({ origin, ...packFields(pack, config) })),
        text: [`found ${packs.length} packs`],
      };
    });
  },
};
