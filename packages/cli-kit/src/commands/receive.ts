import { setTimeout as sleep } from "node:timers/promises";
import { IdleSearch, isOutsideMonth, type Received } from "@sotto/wallet";
import type { Command } from "../command.ts";
import { amountFields, money, table } from "../format.ts";
import { type Result, toJson } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { withChain } from "../session.ts";
import {
  addressesText,
  addressName,
  byMonth,
  coveredBy,
  incomeOf,
  reportEnd,
  scanViewing,
  sum,
  type Viewing,
  withViewing,
} from "../viewing.ts";

const POLL_INTERVAL_MS = 500;

export const receive: Command = {
  name: "receive",
  summary: "Shows incoming payments with viewing keys; can watch for more.",
  positionals: [],
  options: {
    watch: { help: "run until Ctrl-C and print each payment once it is confirmed" },
    "viewing-key": {
      value: "FILE",
      help: "a file of `sotto view-key`; default: SOTTO_VIEWING_KEY, else all of this wallet's keys",
    },
    since: { value: "BLOCK", help: "only payments in this block or later" },
  },
  details: [
    "No spending key is needed: a server that shows incoming payments gets viewing keys alone. Payments are listed by the",
    "month of the address that was paid. With --watch and --json, every line is one JSON object. While it waits, --watch",
    "also finds payments that settled outside the month of their address. It reads the file of keys once, so restart it",
    "with a new file.",
  ],
  async run(context) {
    const { args, output, signal } = context;
    const since = args.integer("since", 0, Number.MAX_SAFE_INTEGER) ?? 0;
    return withChain(context, (chain, config) =>
      withViewing(context, { chain, config, file: args.text("viewing-key") }, async (viewing) => {
        const look = async () => {
          await scanViewing(context, viewing.wallet);
          return viewing.wallet.received().filter(({ blockNumber }) => blockNumber >= since);
        };
        if (!args.flag("watch")) return summary({ received: await look(), viewing, since }, config);
        const shown = new Set<string>();
        const idle = new IdleSearch(viewing);
        // The wallet's store is closed when this returns.
        try {
          for (;;) {
            for (const payment of (await look()).filter(({ confirmed }) => confirmed)) {
              // After a reorganization, the same payment may be in another transaction and is printed again.
              const id = `${payment.transactionHash}:${payment.leafIndex}`;
              if (shown.has(id)) continue;
              shown.add(id);
              const line = output.json ? toJson(fields(payment, config)) : row(payment, config).join("  ");
              output.raw(`${line}\n`);
            }
            idle.start();
            await sleep(POLL_INTERVAL_MS, undefined, { signal });
          }
        } finally {
          await idle.stop();
        }
      }),
    );
  },
};

function fields(payment: Received, config: Config) {
  const { amount, origin, month, leafIndex, blockNumber, transactionHash, confirmed } = payment;
  return {
    id: `${transactionHash}:${leafIndex}`,
    ...amountFields(amount, config),
    origin,
    month: month ?? null,
    outsideMonth: isOutsideMonth(payment),
    transaction: transactionHash,
    block: blockNumber,
    leafIndex,
    confirmed,
  };
}

function row(payment: Received, config: Config): string[] {
  const { amount, origin, month, blockNumber, transactionHash, leafIndex, confirmed } = payment;
  const notes = [...(isOutsideMonth(payment) ? [`outside ${month}`] : []), ...(confirmed ? [] : ["unconfirmed"])];
  const state = [origin, ...notes].join(", ");
  return [String(blockNumber), money(amount, config), state, `${transactionHash}:${leafIndex}`];
}

/** The sum of what is confirmed. */
const totalOf = (received: readonly Received[]): bigint => sum(received.filter(({ confirmed }) => confirmed));

interface Report {
  readonly received: readonly Received[];
  readonly viewing: Viewing;
  /** The first block that counts. */
  readonly since: number;
}

function summary({ received, viewing, since }: Report, config: Config): Result {
  const { keys } = viewing;
  const income = incomeOf(received);
  const deposits = received.filter(({ origin }) => origin === "deposit");
  const groups = byMonth(income).map(({ month, items }) => ({ month, items, total: totalOf(items) }));
  const covers = { ...coveredBy(viewing, config), since };
  const unknown = [
    "Payments to other addresses of the wallet.",
    ...(covers.months.length === 0
      ? []
      : ["Payments outside the month of their address, unless a search has found them: `sotto audit FILE` finds all."]),
    "The wallet's spending.",
  ];
  const from = since === 0 ? "" : `from block ${since} `;
  return {
    json: {
      total: amountFields(totalOf(income), config),
      months: groups.map(({ month, items, total }) => ({
        month: month ?? null,
        payments: items.length,
        ...amountFields(total, config),
      })),
      deposits: amountFields(totalOf(deposits), config),
      received: received.map((payment) => fields(payment, config)),
      covers,
      unknown,
    },
    text: [
      ...groups.flatMap(({ month, items, total }) => [
        `${addressName(month)}: ${money(total, config)}`,
        ...table(items.map((payment) => ["", ...row(payment, config)])),
      ]),
      `total income ${money(totalOf(income), config)}`,
      ...(deposits.length === 0 ? [] : [`deposits, not income: ${money(totalOf(deposits), config)}`]),
      ...table(deposits.map((deposit) => ["", ...row(deposit, config)])),
      "",
      ...reportEnd([`This report covers ${addressesText(keys)}, ${from}up to block ${covers.toBlock}.`], unknown),
    ],
  };
}
