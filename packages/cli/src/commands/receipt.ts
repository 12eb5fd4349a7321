import { type CheckedReceipt, checkReceipt } from "@sotto/client/receipts";
import type { Command, Context } from "../command.ts";
import { amountFields, money } from "../format.ts";
import { CliError } from "../frame/errors.ts";
import { printable } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { readInput, readText, writePrivate } from "../home/files.ts";
import { scan, withChain, withWallet } from "../session.ts";

/** Most bytes of a receipt, ten times what one has. */
const MAX_INPUT_BYTES = 65_536;

export const receipt: Command = {
  name: "receipt",
  summary: "Makes a receipt of one payment: shows a verifier that you paid it.",
  positionals: ["PAYMENT"],
  options: {
    challenge: { value: "TEXT", help: "the verifier's own text: without one, whoever has a copy can show it as well" },
    "show-deposit": { help: "also where it shows which deposit, and so which account, paid" },
    output: { value: "FILE", help: "writes it there, in place of standard output", short: "o" },
  },
  details: [
    "PAYMENT is the id that `sotto payments` lists. A receipt opens recipient, amount, resource and time of this one",
    "payment, and the owner tag of the note that paid: half of this wallet's address, or the tag of one deposit. It",
    "opens nothing else. Needs the journal: a wallet restored from words alone cannot make receipts of old payments.",
  ],
  async run(context) {
    const { args } = context;
    const id = args.positional(0, "PAYMENT");
    const challenge = args.text("challenge");
    return withWallet(context, false, async (session) => {
      await scan(session);
      const options = { ...(challenge === undefined ? {} : { challenge }), showDeposit: args.flag("show-deposit") };
      const made = await session.wallet.receipt(id, options);
      const file = args.text("output");
      if (file === undefined) return { json: made, text: [JSON.stringify(made, null, 2)] };
      writePrivate(file, `${JSON.stringify(made, null, 2)}\n`, false);
      return { json: { file, transaction: made.transaction }, text: [`receipt written to ${file}`] };
    });
  },
};

export const receiptCheck: Command = {
  name: "receipt check",
  summary: "Checks a receipt that somebody shows, against the chain.",
  positionals: ["FILE"],
  options: {
    challenge: { value: "TEXT", help: "the text you asked for: a receipt made for anything else is refused" },
    confirmations: { value: "N", help: "blocks the payment needs; default finality and one" },
  },
  details: [
    "FILE is - for standard input. Exit code 7 where the receipt does not hold. Without --challenge it only says that",
    "somebody who paid once made it: who shows it to you may have copied it. Needs no key.",
  ],
  async run(context) {
    const value = await readJson(context, context.args.positional(0, "FILE"));
    const challenge = context.args.text("challenge");
    return withChain(context, async (chain, config) => {
      const confirmations = context.args.integer("confirmations", 1, 1000) ?? config.finality + 1;
      const place = { chain, chainId: config.chainId, pool: config.pool, confirmations };
      const checked = await checkReceipt(value, { ...place, ...(challenge === undefined ? {} : { challenge }) });
      return { json: { valid: true, ...receiptFields(checked, config) }, text: receiptText(checked, config) };
    });
  },
};

/** JSON of a file, or of standard input. @throws CliError FILE_UNREADABLE */
export async function readJson({ streams }: Context, file: string, most = MAX_INPUT_BYTES): Promise<unknown> {
  const text = file === "-" ? await readInput(streams.stdin, most) : readText(file, most);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliError("FILE_UNREADABLE", `${file === "-" ? "standard input" : file} is not JSON`, {}, { cause });
  }
}

function receiptFields(checked: CheckedReceipt, config: Config) {
  const { recipient, resourceUrl, timestamp, transaction, block, digest, leafIndex, ownerTag, challenge } = checked;
  return {
    ...amountFields(checked.amount, config),
    recipientWallet: recipient.wallet,
    recipientAddress: recipient.shieldedAddress,
    resource: resourceUrl,
    time: new Date(timestamp).toISOString(),
    transaction,
    block,
    leafIndex,
    digest,
    payerTag: String(ownerTag),
    challenge,
  };
}

function receiptText(checked: CheckedReceipt, config: Config): string[] {
  const { recipient, resourceUrl, timestamp, transaction, block, challenge } = checked;
  return [
    `valid: ${money(checked.amount, config)} to ${recipient.wallet} (${recipient.shieldedAddress})`,
    `for ${printable(resourceUrl)}`,
    `at ${new Date(timestamp).toISOString()}, settled in block ${block}: ${transaction}`,
    challenge === "" ? "It answers no challenge: it may be a copy." : `It answers "${printable(challenge)}".`,
  ];
}
