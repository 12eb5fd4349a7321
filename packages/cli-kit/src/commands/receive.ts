import { setTimeout as sleep } from "node:timers/promises";
import type { ViewingKeys } from "@sotto/protocol";
import { IdleSearch, isOutsideMonth, type Received } from "@sotto/wallet";
import type { Command } from "../command.ts";
import { amountFields, money, table } from "../format.ts";
import { type Result, toJson } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { withChain } from "../session.ts";
import { addressesText, byMonth, incomeOf, monthsOfKeys, reportEnd, scanViewing, withViewing } from "../viewing.ts";

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
          const toBlock = await scanViewing(context, chain, viewing.wallet);
          return { toBlock, received: incomeOf(viewing).filter(({ blockNumber }) => blockNumber >= since) };
        };
        if (!args.flag("watch")) return summary({ ...(await look()), since, keys: viewing.keys }, config);
        const shown = new Set<string>();
        const idle = new IdleSearch(viewing);
        // The wallet's store is closed when this returns.
        try {
          for (;;) {
            for (const payment of (await look()).received.filter(({ confirmed }) => confirmed)) {
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
const totalOf = (received: readonly Received[]): bigint =>
  received.reduce((total, { amount, confirmed }) => (confirmed ? total + amount : total), 0n);

const UNKNOWN = [
  "Payments to other addresses of the wallet.",
  "Payments to the address of a month that came before or after that month: `sotto audit FILE` finds them.",
  "The wallet's spending.",
];

interface Report {
  readonly received: readonly Received[];
  readonly keys: ViewingKeys;
  /** First and last block that were read, both included. */
  readonly since: number;
  readonly toBlock: number;
}

function summary({ received, keys, since, toBlock }: Report, config: Config): Result {
  const groups = byMonth(received).map(({ month, items }) => ({ month, items, total: totalOf(items) }));
  const from = since === 0 ? "" : `from block ${since} `;
  return {
    json: {
      total: amountFields(totalOf(received), config),
      months: groups.map(({ month, items, total }) => ({
        month: month ?? null,
        payments: items.length,
        ...amountFields(total, config),
      })),
      received: received.map((payment) => fields(payment, config)),
      covers: {
        months: monthsOfKeys(keys),
        lasting: keys.keys.some(({ month }) => month === undefined),
        since,
        toBlock,
      },
      unknown: UNKNOWN,
    },
    text: [
      ...groups.flatMap(({ month, items, total }) => [
        `${month ?? "lasting address"}: ${money(total, config)}`,
        ...table(items.map((payment) => ["", ...row(payment, config)])),
      ]),
      `total ${money(totalOf(received), config)}`,
      "",
      ...reportEnd([`This report covers ${addressesText(keys)}, ${from}up to block ${toBlock}.`], UNKNOWN),
    ],
  };
}
