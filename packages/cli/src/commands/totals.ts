import { calldataSignals, checkTotals, proveTotals } from "@sotto/client/receipts";
import type { Command, Context } from "../command.ts";
import { amountFields, money, table } from "../format.ts";
import { usage } from "../frame/errors.ts";
import { writePrivate } from "../home/files.ts";
import { viewingKeyOf } from "../home/viewing-key.ts";
import { withChain } from "../session.ts";
import { readJson } from "./receipt.ts";

/** 20,000 payments of some 300 bytes. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024;
const NOBODY = `0x${"00".repeat(20)}`;

export const totals: Command = {
  name: "totals",
  summary: "Proves to an auditor what this address was paid between two blocks.",
  positionals: [],
  options: {
    auditor: { value: "TEXT", help: "who it is for; it is no statement to anyone else" },
    wallet: {
      value: "ADDRESS",
      help: "the wallet address that payers name with yours; payments under another are shown",
    },
    "from-block": { value: "N", help: "first block; default: the pool's first" },
    "to-block": { value: "N", help: "last block; default: the newest that counts" },
    amounts: { help: "shows each amount, in place of the total alone" },
    "show-rest": { help: "shows the amounts that cannot be hidden: of payments under another wallet address" },
    "viewing-key": { value: "FILE", help: "a file of sotto export --viewing-key, in place of this wallet's key" },
    output: { value: "FILE", help: "writes it there, in place of standard output", short: "o" },
  },
  details: [
    "The statement is complete for its blocks and gives away no key. The auditor learns the total, which payments were",
    "yours, and can try amounts: what can be guessed, it can guess. docs/protocol.md says what is proved.",
  ],
  async run(context) {
    const { args, output, signal } = context;
    const auditor = args.required("auditor");
    const named = args.address("wallet");
    if (named === undefined && !args.flag("amounts")) throw usage("--wallet is missing, or --amounts");
    const wallet = named ?? NOBODY;
    const [from, to] = ["from-block", "to-block"].map((name) => args.integer(name, 0, Number.MAX_SAFE_INTEGER));
    const key = viewingKeyOf(context, args.text("viewing-key"));
    return withChain(context, async (chain, config) => {
      const confirmations = config.finality + 1;
      const height = await chain.height();
      const calldata = async (hash: string) => (await chain.provider.getTransaction(hash))?.data;
      const statement = await proveTotals({
        chain,
        chainId: config.chainId,
        pool: config.pool,
        ...key,
        wallet,
        auditor,
        fromBlock: from ?? config.deploymentBlock,
        toBlock: to ?? height - config.finality,
        confirmations,
        ...(args.flag("amounts") ? {} : { signals: calldataSignals(calldata) }),
        showRest: args.flag("show-rest"),
        onProgress: progress(context),
        signal,
      });
      output.progress("proving");
      const file = args.text("output");
      const { hidden, hiddenTotal, fromBlock, toBlock } = statement;
      if (file === undefined) return { json: statement, text: [JSON.stringify(statement)] };
      writePrivate(file, `${JSON.stringify(statement)}\n`, false);
      const json = { file, fromBlock, toBlock, hidden: hidden.length, hiddenTotal };
      return { json, text: [`statement of blocks ${fromBlock} to ${toBlock} written to ${file}`] };
    });
  },
};

export const totalsCheck: Command = {
  name: "totals check",
  summary: "Checks a statement of totals against the chain.",
  positionals: ["FILE"],
  options: {
    auditor: { value: "TEXT", help: "who it must be made for" },
    confirmations: { value: "N", help: "blocks its last block needs; default finality and one" },
  },
  details: ["FILE is - for standard input. Exit code 7 where the statement does not hold. Needs no key."],
  async run(context) {
    const { args, signal } = context;
    const value = await readJson(context, args.positional(0, "FILE"), MAX_INPUT_BYTES);
    const auditor = args.text("auditor");
    return withChain(context, async (chain, config) => {
      const confirmations = args.integer("confirmations", 1, 1000) ?? config.finality + 1;
      const place = { chain, chainId: config.chainId, pool: config.pool, confirmations };
      const found = await checkTotals(value, {
        ...place,
        ...(auditor === undefined ? {} : { auditor }),
        onProgress: progress(context),
        signal,
      });
      const { total, shown, pool: _, chainId: __, ...told } = found;
      const each = shown.map(({ amount, ...payment }) => ({ ...payment, ...amountFields(amount, config) }));
      return {
        json: { valid: true, ...amountFields(total, config), ...told, shown: each },
        text: [
          `valid: ${money(total, config)} in ${found.payments} payments, blocks ${found.fromBlock} to ${found.toBlock}`,
          `to ${found.wallet} (${found.shieldedAddress}), for "${found.auditor}"; ${found.others} payments were others'`,
          ...table(shown.map(({ amount, block, transaction }) => [String(block), money(amount, config), transaction])),
        ],
      };
    });
  },
};

const progress =
  ({ output }: Context) =>
  ({ block, to }: { block: number; to: number }) =>
    output.progress(`reading block ${block} of ${to}`);
