import type { ViewingKey } from "@sotto/protocol";
import { ethersProvider, viewingKeysOf } from "@sotto/wallet";
import { assertTotals, calldataSignals, proveTotals } from "@sotto/wallet/receipts";
import type { Command, Context } from "../command.ts";
import { amountFields, money, table } from "../format.ts";
import { usage } from "../frame/errors.ts";
import { writePrivate } from "../home/files.ts";
import { givenViewingKeys, walletKeysOf } from "../home/viewing-keys.ts";
import { withChain } from "../session.ts";
import { readJson } from "./receipt.ts";

/** Maximum size of a statement, in bytes; 20,000 payments of about 300 bytes need a third of that. */
const MAX_STATEMENT_BYTES = 16 * 1024 * 1024;
const ZERO_ADDRESS = `0x${"00".repeat(20)}`;

export const totals: Command = {
  name: "totals",
  summary: "Proves to an auditor the total paid to this address in a range of blocks.",
  positionals: [],
  options: {
    auditor: { value: "TEXT", help: "name of the auditor; the statement convinces nobody else" },
    wallet: {
      value: "ADDRESS",
      help: "the wallet address that payers name; payments that name another are shown",
    },
    "from-block": { value: "N", help: "first block; default: the pool's first block" },
    "to-block": { value: "N", help: "last block; default: the newest final block" },
    amounts: { help: "show each amount, not only the total" },
    "show-rest": { help: "show the amounts of payments that name another wallet; these cannot be hidden" },
    month: {
      value: "MONTH",
      help: "the month whose address was paid; default: the lasting address, or the file's only key",
    },
    "viewing-key": { value: "FILE", help: "a file of `sotto view-key` instead of this wallet's keys" },
    output: { value: "FILE", help: "write to this file instead of standard output", short: "o" },
  },
  details: [
    "The statement covers every payment in its blocks and reveals no key. The auditor learns the total and which payments",
    "were yours, and can test a guess of a single amount. docs/protocol.md describes what is proved.",
  ],
  async run(context) {
    const { args, output, signal } = context;
    const auditor = args.required("auditor");
    const named = args.address("wallet");
    if (named === undefined && !args.flag("amounts"))
      throw usage("--wallet ADDRESS is missing; without it, use --amounts");
    const wallet = named ?? ZERO_ADDRESS;
    const [from, to] = ["from-block", "to-block"].map((name) => args.integer(name, 0, Number.MAX_SAFE_INTEGER));
    const { viewingKey, shieldedAddress } = keyOf(context);
    return withChain(context, async (chain, config) => {
      const confirmations = config.finality + 1;
      const { number: height } = await chain.newest();
      const provider = ethersProvider(chain);
      const calldata = async (hash: string) => (await provider.getTransaction(hash))?.data;
      const statement = await proveTotals({
        chain,
        chainId: config.chainId,
        pool: config.pool,
        viewingKey,
        shieldedAddress,
        wallet,
        auditor,
        fromBlock: from ?? config.deploymentBlock,
        toBlock: to ?? height - config.finality,
        confirmations,
        signals: args.flag("amounts") ? undefined : calldataSignals(calldata),
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

/** The key of the address whose income is proved. @throws CliError USAGE, KEY_MISSING, KEY_FILE_UNSAFE */
function keyOf(context: Context): ViewingKey {
  const { args } = context;
  const month = args.month("month");
  const given = givenViewingKeys(context, args.text("viewing-key"));
  const selection = month === undefined ? { lasting: true } : { months: [month] };
  const { keys } = given ?? viewingKeysOf(walletKeysOf(context), selection);
  const found = month === undefined && keys.length === 1 ? keys[0] : keys.find((key) => key.month === month);
  if (found === undefined)
    throw usage(
      month === undefined
        ? "the file has the keys of several months: choose one with --month MONTH"
        : `the file has no key of ${month}; write it with \`sotto view-key --month ${month}\``,
    );
  return found;
}

export const totalsCheck: Command = {
  name: "totals check",
  summary: "Checks a statement of totals against the chain.",
  positionals: ["FILE"],
  options: {
    auditor: { value: "TEXT", help: "name of the auditor that the statement must be for" },
    confirmations: { value: "N", help: "confirmations its last block needs; default: finality plus 1" },
  },
  details: ["FILE is - for standard input. An invalid statement ends with exit code 7. No key is needed."],
  async run(context) {
    const { args, signal } = context;
    const value = await readJson(context, args.positional(0, "FILE"), MAX_STATEMENT_BYTES);
    const auditor = args.text("auditor");
    return withChain(context, async (chain, config) => {
      const confirmations = args.integer("confirmations", 1, 1000) ?? config.finality + 1;
      const { chainId, pool } = config;
      const options = { chain, chainId, pool, confirmations, auditor, onProgress: progress(context), signal };
      const found = await assertTotals(value, options);
      const { total, shown, pool: _, chainId: __, ...fields } = found;
      const each = shown.map(({ amount, ...payment }) => ({ ...payment, ...amountFields(amount, config) }));
      return {
        json: { valid: true, ...amountFields(total, config), ...fields, shown: each },
        text: [
          `valid: ${money(total, config)} in ${found.payments} payments, blocks ${found.fromBlock} to ${found.toBlock}`,
          `to ${found.wallet} (${found.shieldedAddress}), for "${found.auditor}"; ${found.others} payments went to others`,
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
