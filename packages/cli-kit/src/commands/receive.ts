import { setTimeout as sleep } from "node:timers/promises";
import { type Received, ViewingWallet } from "@sotto/wallet";
import { lockFile } from "@sotto/wallet/node";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { keccak256, toUtf8Bytes } from "ethers";
import type { Command } from "../command.ts";
import { amountFields, money, table } from "../format.ts";
import { toJson } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { viewingKeysOf } from "../home/viewing-key.ts";
import { withChain } from "../session.ts";

const POLL_INTERVAL_MS = 500;

export const receive: Command = {
  name: "receive",
  summary: "Shows incoming payments with a viewing key; can watch for more.",
  positionals: [],
  options: {
    watch: { help: "run until Ctrl-C and print each payment once it is confirmed" },
    "viewing-key": {
      value: "FILE",
      help: "a file of `sotto export --viewing-key`; default: SOTTO_VIEWING_KEY, else this wallet's key",
    },
    since: { value: "BLOCK", help: "only payments in this block or later" },
  },
  details: [
    "No spending key is needed: a server that shows incoming payments gets the viewing key alone. With --watch and",
    "--json, every line is one JSON object.",
  ],
  async run(context) {
    const { args, home, output, signal } = context;
    const keys = viewingKeysOf(context, args.text("viewing-key"));
    const since = args.integer("since", 0, Number.MAX_SAFE_INTEGER) ?? 0;
    return withChain(context, async (chain, config) => {
      // Each wallet has a separate store, so that one process can watch while another pays.
      const name = `viewing-${keccak256(toUtf8Bytes(String(keys.ownerTag))).slice(2, 18)}`;
      const release = lockFile(home.path(`${name}.lock`));
      const store = new SqliteStore(home.path(`${name}.sqlite`));
      try {
        const { chainId, pool, token, deploymentBlock, finality } = config;
        const deployment = { chain, chainId, pool, token, deploymentBlock, finality };
        const wallet = await ViewingWallet.open({ ...deployment, keys, store });
        const onProgress = ({ block, height }: { block: number; height: number }) =>
          output.progress(`reading block ${block} of ${height}`);
        const look = async () => {
          await wallet.scan({ onProgress, signal });
          return wallet.received().filter(({ blockNumber }) => blockNumber >= since);
        };
        if (!args.flag("watch")) return summary(await look(), wallet.total(), config);
        const shown = new Set<string>();
        for (;;) {
          for (const payment of (await look()).filter(({ confirmed }) => confirmed)) {
            // After a reorganization, the same payment may be in another transaction and is printed again.
            const id = `${payment.transactionHash}:${payment.leafIndex}`;
            if (shown.has(id)) continue;
            shown.add(id);
            const line = output.json ? toJson(fields(payment, config)) : row(payment, config).join("  ");
            output.raw(`${line}\n`);
          }
          await sleep(POLL_INTERVAL_MS, undefined, { signal });
        }
      } finally {
        await store.close();
        release();
      }
    });
  },
};

function fields({ amount, origin, leafIndex, blockNumber, transactionHash, confirmed }: Received, config: Config) {
  return {
    id: `${transactionHash}:${leafIndex}`,
    ...amountFields(amount, config),
    origin,
    transaction: transactionHash,
    block: blockNumber,
    leafIndex,
    confirmed,
  };
}

function row(
  { amount, origin, blockNumber, transactionHash, leafIndex, confirmed }: Received,
  config: Config,
): string[] {
  const state = confirmed ? origin : `${origin}, unconfirmed`;
  return [String(blockNumber), money(amount, config), state, `${transactionHash}:${leafIndex}`];
}

function summary(received: readonly Received[], total: bigint, config: Config) {
  return {
    json: { total: amountFields(total, config), received: received.map((payment) => fields(payment, config)) },
    text: [...table(received.map((payment) => row(payment, config))), `total ${money(total, config)}`],
  };
}
