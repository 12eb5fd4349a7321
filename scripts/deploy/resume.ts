// A deployment that ends while a transaction is sent leaves Ignition without its hash: the journal has only its nonce.
// Ignition then asks for the hash. Here it is looked up; and where no node took the transaction, it is sent after all.
import { appendFileSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { trackTransaction } from "@nomicfoundation/ignition-core";
import type { NetworkConnection } from "hardhat/types/network";
import { CommandError } from "../lib/command.ts";

type Provider = NetworkConnection["provider"];

interface Lost {
  /** Ignition's name of what it deploys. */
  readonly futureId: string;
  readonly sender: string;
  readonly nonce: number;
}

/** More than a deployment has transactions. */
const MOST_LOST = 16;
/** How far back a lost transaction is looked for, blocks: hours on any chain. */
const MOST_BLOCKS = 20_000;

/** Hardhat's number of the error that asks for a hash. */
const TRANSACTION_LOST = 10410;

function lostTransaction(error: unknown): Lost | undefined {
  const { number, messageArguments } = Object(error) as { number?: unknown; messageArguments?: Partial<Lost> };
  if (number !== TRANSACTION_LOST || messageArguments === undefined) return undefined;
  const { futureId, sender, nonce } = messageArguments;
  return { futureId: String(futureId), sender: String(sender).toLowerCase(), nonce: Number(nonce) };
}

/** Whether the node has a transaction of this account with this nonce, in a block or waiting for one. */
async function isSent(provider: Provider, { sender, nonce }: Lost): Promise<boolean> {
  const count = await provider.request({ method: "eth_getTransactionCount", params: [sender, "pending"] });
  return Number(count) > nonce;
}

/**
 * Writes into the journal that the transaction is to be sent anew: the account had too little ETH for it, or the command
 * was ended right before. It takes the same nonce then, so only one of the two could ever be mined.
 */
function takeBack(journal: string, { futureId, nonce }: Lost): void {
  const prepared = readFileSync(journal, "utf8")
    .split("\n")
    .filter((line) => line.includes('"TRANSACTION_PREPARE_SEND"'))
    .map((line) => JSON.parse(line) as { futureId: string; nonce: number; networkInteractionId: number })
    .findLast((message) => message.futureId === futureId && message.nonce === nonce);
  if (prepared === undefined) throw new CommandError("JOURNAL_DAMAGED", `${journal} does not say what was to be sent`);
  const { networkInteractionId } = prepared;
  const message = { futureId, networkInteractionId, type: "ONCHAIN_INTERACTION_REPLACED_BY_USER" };
  appendFileSync(journal, `\n${JSON.stringify(message)}`);
}

/** The hash of an account's transaction with this nonce, from the newest block backwards. */
async function findTransaction(provider: Provider, { sender, nonce }: Lost): Promise<string> {
  const newest = Number(await provider.request({ method: "eth_blockNumber" }));
  for (let block = newest; block >= Math.max(0, newest - MOST_BLOCKS); block -= 1) {
    const params = [`0x${block.toString(16)}`, true];
    const found = (await provider.request({ method: "eth_getBlockByNumber", params })) as {
      transactions: { from: string; nonce: string; hash: string }[];
    };
    const same = found.transactions.find((tx) => tx.from.toLowerCase() === sender && Number(tx.nonce) === nonce);
    if (same !== undefined) return same.hash;
  }
  throw new CommandError(
    "TRANSACTION_LOST",
    `${sender}'s transaction ${nonce} is in none of the last ${MOST_BLOCKS} blocks; run this again when it is mined`,
  );
}

/**
 * Runs a deployment, and again with what a cut connection lost.
 * @param journal of the deployment
 * @throws CommandError TRANSACTION_LOST, JOURNAL_DAMAGED; what `deploy` throws
 */
export async function resuming<T>(provider: Provider, journal: string, deploy: () => Promise<T>): Promise<T> {
  for (let lost = 0; ; lost += 1) {
    try {
      return await deploy();
    } catch (error) {
      const missing = lostTransaction(error);
      if (missing === undefined || lost === MOST_LOST) throw error;
      if (!(await isSent(provider, missing))) takeBack(journal, missing);
      else await trackTransaction(dirname(journal), await findTransaction(provider, missing), provider);
    }
  }
}
