import type { Month } from "@sotto/protocol";
import { isOutsideMonth, MemoryStore, type Received, type Spent } from "@sotto/wallet";
import type { Command } from "../command.ts";
import { amountFields, counted, money, table } from "../format.ts";
import type { Result } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { readViewingKeys } from "../home/viewing-keys.ts";
import { withChain } from "../session.ts";
import {
  addressesText,
  addressName,
  coveredBy,
  incomeOf,
  openViewing,
  reportEnd,
  scanViewing,
  searchViewing,
  sum,
  type Viewing,
} from "../viewing.ts";

export const audit: Command = {
  name: "audit",
  summary: "Reports income and spending with a file of `sotto audit-key`.",
  positionals: ["FILE"],
  options: {},
  details: [
    "It lists the payments to the addresses of the file's months, and when the owner paid, merged or withdrew in these",
    "months, with the change left. It ends with what the report covers and what it cannot know. With a file of",
    "`sotto view-key`, it lists income only. Only confirmed blocks count. The wallet in this folder needs no funds, and",
    "nothing of the report is kept in it.",
  ],
  async run(context) {
    const file = context.args.positional(0, "FILE");
    const keys = readViewingKeys(context, file);
    return withChain(context, async (chain, config) => {
      // In memory, so that nothing of the owner's accounts stays in this folder.
      const viewing = await openViewing(chain, config, keys, new MemoryStore());
      await scanViewing(context, viewing.wallet);
      await searchViewing(context, viewing.wallet);
      return report(viewing, config);
    });
  },
};

const timeOf = ({ timestamp }: { readonly timestamp: number }): string => new Date(1000 * timestamp).toISOString();

/** For people: minutes of UTC. */
const minuteOf = (one: { readonly timestamp: number }): string => timeOf(one).slice(0, 16).replace("T", " ");

/** The limits of the report, as sentences. */
function unknownOf({ keys: { keys } }: Viewing): string[] {
  const change = keys.filter(({ changeKey }) => changeKey !== undefined);
  return [
    "Payments to other addresses of the wallet, and deposits.",
    ...(change.length === 0
      ? ["The wallet's spending: the file has no change keys."]
      : [
          "Amounts of payments that the wallet made: only the change of each is shown.",
          "Spending in other months, and withdrawals that left nothing.",
          ...(change.length === keys.length ? [] : ["Spending in the months for which the file has no change key."]),
        ]),
  ];
}

/** The report of one key's address. */
interface Part {
  /** Undefined for the lasting address. */
  readonly month: Month | undefined;
  readonly hasChangeKey: boolean;
  readonly income: readonly Received[];
  readonly spending: readonly Spent[];
}

function textOf({ month, hasChangeKey, income, spending }: Part, config: Config): string[] {
  const name = addressName(month);
  return [
    `${name} income: ${money(sum(income), config)} in ${counted(income.length, "payment")}`,
    ...table(
      income.map((one) => {
        const place = isOutsideMonth(one) ? `${placeOf(one)}, outside ${month}` : placeOf(one);
        return ["", minuteOf(one), money(one.amount, config), place];
      }),
    ),
    `${name} spending: ${hasChangeKey ? counted(spending.length, "time") : "unknown, the file has no change key for it"}`,
    ...table(
      spending.map((one) => [
        "",
        minuteOf(one),
        one.by === "payment" ? "payment" : "withdrawal or merge",
        `left ${money(one.change, config)}`,
        placeOf(one),
      ]),
    ),
    "",
  ];
}

const placeOf = ({ blockNumber, leafIndex }: Received | Spent): string => `block ${blockNumber}, leaf ${leafIndex}`;

function report(viewing: Viewing, config: Config): Result {
  const { keys } = viewing;
  const income = incomeOf(viewing.wallet.received()).filter(({ confirmed }) => confirmed);
  const spending = viewing.wallet.spent().filter(({ confirmed }) => confirmed);
  const covers = coveredBy(viewing, config);
  const parts = keys.keys.map(
    ({ month, changeKey }): Part => ({
      month,
      hasChangeKey: changeKey !== undefined,
      income: income.filter((one) => one.month === month),
      spending: spending.filter((one) => one.month === month),
    }),
  );
  const unknown = unknownOf(viewing);
  return {
    json: {
      total: amountFields(sum(income), config),
      months: parts.map((part) => ({
        month: part.month ?? null,
        income: amountFields(sum(part.income), config),
        payments: part.income.length,
        spent: part.hasChangeKey ? part.spending.length : null,
      })),
      income: income.map((one) => ({
        time: timeOf(one),
        ...amountFields(one.amount, config),
        origin: one.origin,
        month: one.month ?? null,
        outsideMonth: isOutsideMonth(one),
        transaction: one.transactionHash,
        block: one.blockNumber,
        leafIndex: one.leafIndex,
      })),
      spending: spending.map(({ by, change, month, transactionHash, blockNumber, leafIndex, ...place }) => ({
        time: timeOf(place),
        by,
        change: amountFields(change, config),
        month: month ?? null,
        transaction: transactionHash,
        block: blockNumber,
        leafIndex,
      })),
      covers,
      unknown,
    },
    text: [
      ...parts.flatMap((part) => textOf(part, config)),
      `total income ${money(sum(income), config)}`,
      "",
      ...reportEnd(
        [
          `This report covers ${addressesText(keys)}, up to block ${covers.toBlock}.`,
          "It has every payment to them, also before and after their months.",
        ],
        unknown,
      ),
    ],
  };
}
