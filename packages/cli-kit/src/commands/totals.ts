import {
  describeMonths,
  MAX_ADDRESSES_LENGTH,
  type Month,
  parseSchedule,
  type SignedSchedule,
  type ViewingKey,
} from "@sotto/protocol";
import { type Chain, ethersProvider, viewingKeysOf } from "@sotto/wallet";
import {
  assertTotalsDocument,
  type BlockRange,
  type CheckedDocument,
  type CheckedPart,
  calldataSignals,
  monthBlocks,
  proveTotals,
  type TotalsPart,
  totalsDocument,
} from "@sotto/wallet/receipts";
import type { Command, Context } from "../command.ts";
import { amountFields, counted, money, table } from "../format.ts";
import { usage } from "../frame/errors.ts";
import type { Result } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { writePrivate } from "../home/files.ts";
import { givenViewingKeys, walletKeysOf } from "../home/viewing-keys.ts";
import { MONTH_OPTIONS, monthsOf } from "../months.ts";
import { withChain } from "../session.ts";
import { addressName, reportEnd } from "../viewing.ts";
import { readJson } from "./receipt.ts";

/** Maximum size of statements, in bytes; 20,000 payments of about 300 bytes need a tenth of that. */
const MAX_STATEMENT_BYTES = 64 * 1024 * 1024;
const ZERO_ADDRESS = `0x${"00".repeat(20)}`;

export const totals: Command = {
  name: "totals",
  summary: "Proves to an auditor the total paid to this wallet's addresses.",
  positionals: [],
  options: {
    auditor: { value: "TEXT", help: "name of the auditor; the statements convince nobody else" },
    wallet: {
      value: "ADDRESS",
      help: "the wallet address that payers name; payments that name another are shown",
    },
    ...MONTH_OPTIONS,
    "from-block": { value: "N", help: "first block; default: an hour before the address's month" },
    "to-block": { value: "N", help: "last block; default: an hour after the address's month" },
    amounts: { help: "show each amount, not only the total" },
    "show-rest": { help: "show the amounts of payments that name another wallet; these cannot be hidden" },
    "viewing-key": { value: "FILE", help: "a file of `sotto view-key` instead of this wallet's keys" },
    output: { value: "FILE", help: "write to this file instead of standard output", short: "o" },
  },
  details: [
    "It writes one statement for the address of each month, or of each key in the file. Without months and file, it",
    "writes one for the lasting address, over all final blocks. A statement covers every payment in its blocks and reveals",
    "no key. The auditor learns the total and which payments were yours, and can test a guess of a single amount.",
    "docs/protocol.md describes what is proved.",
  ],
  async run(context) {
    const { args, output } = context;
    const auditor = args.required("auditor");
    const wallet = args.address("wallet");
    if (wallet === undefined && !args.flag("amounts"))
      throw usage("--wallet ADDRESS is missing; without it, use --amounts");
    const [from, to] = ["from-block", "to-block"].map((name) => args.integer(name, 0, Number.MAX_SAFE_INTEGER));
    const keys = keysOf(context);
    return withChain(context, async (chain, config) => {
      const { number: height } = await chain.newest();
      const all = { fromBlock: config.deploymentBlock, toBlock: height - config.finality };
      const blocksOf = async (month: Month | undefined): Promise<BlockRange | undefined> => {
        const found = month === undefined ? all : await monthBlocks(month, { chain, ...all });
        const [fromBlock, toBlock] = [from ?? found?.fromBlock, to ?? found?.toBlock];
        return fromBlock === undefined || toBlock === undefined ? undefined : { fromBlock, toBlock };
      };
      const parts: TotalsPart[] = [];
      const skipped: Month[] = [];
      for (const key of keys) {
        const blocks = await blocksOf(key.month);
        if (blocks === undefined) skipped.push(key.month!);
        else parts.push(await prove(context, chain, config, { key, blocks, auditor, wallet: wallet ?? ZERO_ADDRESS }));
      }
      if (parts.length === 0) throw usage(`no final block is of ${skipped.join(", ")}: choose months that have begun`);
      const document = totalsDocument(parts);
      for (const month of skipped) output.note(`no final block is of ${month}, so there is no statement of it`);
      const file = args.text("output");
      if (file === undefined) return { json: document, text: [JSON.stringify(document)] };
      writePrivate(file, `${JSON.stringify(document)}\n`, false);
      return written(file, parts, skipped);
    });
  },
};

/** The keys of the addresses whose income is proved. @throws CliError USAGE, KEY_MISSING, KEY_FILE_UNSAFE */
function keysOf(context: Context): readonly ViewingKey[] {
  const months = monthsOf(context.args);
  const given = givenViewingKeys(context, context.args.text("viewing-key"));
  if (given === undefined)
    return viewingKeysOf(walletKeysOf(context), months === undefined ? { lasting: true } : { months }).keys;
  const missing = months?.find((month) => !given.keys.some((key) => key.month === month));
  if (missing !== undefined)
    throw usage(`the file has no key of ${missing}; write it with \`sotto view-key --month ${missing}\``);
  return given.keys.filter(({ month }) => months === undefined || (month !== undefined && months.includes(month)));
}

interface Proving {
  readonly key: ViewingKey;
  readonly blocks: BlockRange;
  readonly auditor: string;
  readonly wallet: string;
}

async function prove(
  context: Context,
  chain: Chain,
  { chainId, pool, finality }: Config,
  { key: { month, viewingKey, shieldedAddress }, blocks, auditor, wallet }: Proving,
): Promise<TotalsPart> {
  const { args, output, signal } = context;
  const provider = ethersProvider(chain);
  const calldata = async (hash: string) => (await provider.getTransaction(hash))?.data;
  const statement = await proveTotals({
    ...{ chain, chainId, pool, viewingKey, shieldedAddress, wallet, auditor, ...blocks, signal },
    confirmations: finality + 1,
    signals: args.flag("amounts") ? undefined : calldataSignals(calldata),
    showRest: args.flag("show-rest"),
    onProgress: progress(context),
  });
  output.progress(`proved ${addressName(month)}`);
  return { month, statement };
}

function written(file: string, parts: readonly TotalsPart[], skipped: readonly Month[]): Result {
  const statements = parts.map(({ month, statement: { fromBlock, toBlock, hidden, hiddenTotal } }) => ({
    month: month ?? null,
    ...{ fromBlock, toBlock, hidden: hidden.length, hiddenTotal },
  }));
  return {
    json: { file, statements, skipped },
    text: [
      ...table(parts.map(({ month, statement }) => [addressName(month), blocksText(statement)])),
      `${parts.length === 1 ? "statement" : `${parts.length} statements`} written to ${file}`,
    ],
  };
}

const blocksText = ({ fromBlock, toBlock }: BlockRange): string => `blocks ${fromBlock} to ${toBlock}`;

export const totalsCheck: Command = {
  name: "totals check",
  summary: "Checks statements of totals against the chain, and adds them.",
  positionals: ["FILE"],
  options: {
    auditor: { value: "TEXT", help: "name of the auditor that the statements must be for" },
    schedule: {
      value: "FILE",
      help: "addresses that the owner signed: says which is of which month; may be repeated",
      multiple: true,
    },
    confirmations: { value: "N", help: "confirmations the last blocks need; default: finality plus 1" },
  },
  details: [
    "FILE is - for standard input. An invalid statement ends with exit code 7. No key is needed. It ends with what the",
    "statements cover and what they cannot show. The schedule is a file of `sotto address schedule`, or what a server",
    "answers at /.well-known/sotto/addresses.",
  ],
  async run(context) {
    const { args, signal } = context;
    const value = await readJson(context, args.positional(0, "FILE"), MAX_STATEMENT_BYTES);
    const schedules: SignedSchedule[] = [];
    for (const file of args.texts("schedule"))
      schedules.push(scheduleOf(await readJson(context, file, MAX_ADDRESSES_LENGTH)));
    const auditor = args.text("auditor");
    return withChain(context, async (chain, config) => {
      const confirmations = args.integer("confirmations", 1, 1000) ?? config.finality + 1;
      const { chainId, pool, deploymentBlock } = config;
      const onProgress = progress(context);
      const options = { chain, chainId, pool, deploymentBlock, confirmations, auditor, schedules, onProgress, signal };
      return report(await assertTotalsDocument(value, options), schedules, config);
    });
  },
};

/** A signed schedule, alone or in a file of addresses. @throws SottoError SCHEDULE_INVALID */
function scheduleOf(json: unknown): SignedSchedule {
  const { type, schedule } = Object(json) as Record<string, unknown>;
  return parseSchedule(type === "sotto-addresses" ? schedule : json);
}

/** What a statement does not cover or prove of its month, as lines. */
function notesOf({ month, isWholeMonth, isScheduled }: CheckedPart, compares: boolean): string[] {
  return [
    ...(month === undefined || isWholeMonth ? [] : [`${month}: these are not all blocks that may have its payments`]),
    ...(compares && !isScheduled ? [`${addressName(month)}: the schedule does not list this address`] : []),
  ];
}

/** The limits of the report, as sentences. */
function unknownOf({ parts }: CheckedDocument, compares: boolean): string[] {
  const lasting = parts.some(({ month }) => month === undefined) ? "" : " the lasting one,";
  return [
    `Income of other addresses: of other months,${lasting} other wallets.`,
    "The owner may have sent payers to an address of which it made no statement.",
    "Payments to these addresses in other blocks.",
    ...(compares ? [] : ["Which month an address is of: compare the owner's --schedule FILE."]),
  ];
}

function report(found: CheckedDocument, schedules: readonly SignedSchedule[], config: Config): Result {
  const { parts, total, payments, wallet, auditor, missing } = found;
  const compares = schedules.length > 0;
  const months = parts.flatMap(({ month }) => (month === undefined ? [] : [month]));
  const unknown = unknownOf(found, compares);
  const statements = parts.map(
    ({ total: amount, shown, chainId: _, pool: __, wallet: ___, auditor: ____, ...part }) => ({
      ...{ ...part, month: part.month ?? null, ...amountFields(amount, config) },
      shown: shown.map(({ amount: one, ...payment }) => ({ ...payment, ...amountFields(one, config) })),
    }),
  );
  const shown = parts.flatMap(({ month, shown: each }) => each.map((payment) => ({ month, ...payment })));
  return {
    json: {
      valid: true,
      ...amountFields(total, config),
      ...{ payments, wallet, auditor, statements, missing },
      covers: { months, lasting: months.length < parts.length },
      unknown,
    },
    text: [
      `valid: ${money(total, config)} in ${counted(payments, "payment")}`,
      wallet === ZERO_ADDRESS ? `for "${auditor}"` : `to wallet ${wallet}, for "${auditor}"`,
      ...table(
        parts.map((part) => [
          addressName(part.month),
          money(part.total, config),
          counted(part.payments, "payment"),
          blocksText(part),
        ]),
      ),
      ...parts.flatMap((part) => notesOf(part, compares)),
      ...table(
        shown.map(({ month, amount, block, transaction }) => [
          addressName(month),
          `block ${block}`,
          money(amount, config),
          transaction,
        ]),
      ),
      "",
      "Addresses of the statements:",
      ...parts.map(({ month, shieldedAddress }) => `- ${addressName(month)}: ${shieldedAddress}`),
      ...reportEnd(
        [
          "This report covers every payment to these addresses in these blocks.",
          ...(missing.length === 0 ? [] : [`Months of the schedule without a statement: ${describeMonths(missing)}.`]),
        ],
        unknown,
      ),
    ],
  };
}

const progress =
  ({ output }: Context) =>
  ({ block, to }: { block: number; to: number }) =>
    output.progress(`reading block ${block} of ${to}`);
