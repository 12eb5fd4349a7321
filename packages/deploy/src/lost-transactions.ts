// If a deployment is interrupted while sending, Ignition's journal has the transaction's nonce but not its hash, and the
// next run asks for the hash. This module looks it up, or has the transaction sent again if the node does not know it.
import { appendFileSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { trackTransaction } from "@nomicfoundation/ignition-core";
import { CommandError } from "@sotto/command/command";
import type { NetworkConnection } from "hardhat/types/network";

type Provider = NetworkConnection["provider"];

interface Lost {
  /** Ignition's id of the contract or call. */
  readonly futureId: string;
  readonly sender: string;
  readonly nonce: number;
}

/** Maximum number of lost transactions; a deployment has fewer transactions. */
const MAX_LOST = 16;
/** Number of blocks searched for a lost transaction: hours on any chain. */
const MAX_BLOCKS = 20_000;

/** Hardhat's number of the error that asks for a hash. */
const TRANSACTION_LOST = 10410;

function lostTransaction(error: unknown): Lost | undefined {
  const { number, messageArguments } = Object(error) as { number?: unknown; messageArguments?: Partial<Lost> };
  if (number !== TRANSACTION_LOST || messageArguments === undefined) return undefined;
  const { futureId, sender, nonce } = messageArguments;
  return { futureId: String(futureId), sender: String(sender).toLowerCase(), nonce: Number(nonce) };
}

/** Whether the node has a transaction with this nonce, mined or pending. */
async function isSent(provider: Provider, { sender, nonce }: Lost): Promise<boolean> {
  const count = await provider.request({ method: "eth_getTransactionCount", params: [sender, "pending"] });
  return Number(count) > nonce;
}

/**
 * Marks the transaction in the journal as to be sent again, because the account had too little ETH or the command was
 * interrupted before sending. The new transaction keeps the nonce, so at most one of the two can be mined.
 * @throws CommandError JOURNAL_DAMAGED
 */
function markForResend(journal: string, { futureId, nonce }: Lost): void {
  const prepared = readFileSync(journal, "utf8")
    .split("\n")
    .filter((line) => line.includes('"TRANSACTION_PREPARE_SEND"'))
    .map((line) => JSON.parse(line) as { futureId: string; nonce: number; networkInteractionId: number })
    .findLast((message) => message.futureId === futureId && message.nonce === nonce);
  if (prepared === undefined)
    throw new CommandError(
      "JOURNAL_DAMAGED",
      `${journal} has no prepared transaction ${nonce} for ${futureId}; remove its folder and deploy again`,
    );
  const { networkInteractionId } = prepared;
  const message = { futureId, networkInteractionId, type: "ONCHAIN_INTERACTION_REPLACED_BY_USER" };
  appendFileSync(journal, `\n${JSON.stringify(message)}`);
}

/** The hash of an account's transaction with this nonce, from the newest block backwards. */
async function findTransaction(provider: Provider, { sender, nonce }: Lost): Promise<string> {
  const newest = Number(await provider.request({ method: "eth_blockNumber" }));
  for (let block = newest; block >= Math.max(0, newest - MAX_BLOCKS); block -= 1) {
    const params = [`0x${block.toString(16)}`, true];
    const found = (await provider.request({ method: "eth_getBlockByNumber", params })) as {
      transactions: { from: string; nonce: string; hash: string }[];
    };
    const same = found.transactions.find((tx) => tx.from.toLowerCase() === sender && Number(tx.nonce) === nonce);
    if (same !== undefined) return same.hash;
  }
  throw new CommandError(
    "TRANSACTION_LOST",
    `${sender}'s transaction ${nonce} is not in the last ${MAX_BLOCKS} blocks; run the same command again when it is mined`,
  );
}

/**
 * Runs a deployment. After each transaction whose hash was lost, it recovers the hash and runs the deployment again.
 * @param journal path of Ignition's journal of this deployment
 * @throws CommandError TRANSACTION_LOST, JOURNAL_DAMAGED; the errors of `deploy`
 */
export async function deployResumably<T>(provider: Provider, journal: string, deploy: () => Promise<T>): Promise<T> {
  for (let lost = 0; ; lost += 1) {
    try {
      return await deploy();
    } catch (error) {
      const missing = lostTransaction(error);
      if (missing === undefined || lost === MAX_LOST) throw error;
      if (!(await isSent(provider, missing))) markForResend(journal, missing);
      else await trackTransaction(dirname(journal), await findTransaction(provider, missing), provider);
    }
  }
}
