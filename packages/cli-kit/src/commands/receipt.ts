import { describeKeys, type Month, trimPasted, type ViewingKeys } from "@sotto/protocol";
import { assertReceipt, type CheckedReceipt, keyOfReceipt, ReceiptError } from "@sotto/wallet/receipts";
import type { Command, Context } from "../command.ts";
import { amountFields, money } from "../format.ts";
import { CliError } from "../frame/errors.ts";
import { printable } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { readInput, readText, writePrivate } from "../home/files.ts";
import { readViewingKeys } from "../home/viewing-keys.ts";
import { scan, withChain, withWallet } from "../session.ts";

/** Maximum size of a receipt, in bytes; a typical receipt has a tenth of that. */
const MAX_RECEIPT_BYTES = 65_536;

export const receipt: Command = {
  name: "receipt",
  summary: "Makes a receipt that proves to a verifier that you paid a payment.",
  positionals: ["PAYMENT"],
  options: {
    challenge: {
      value: "TEXT",
      help: "a text that the verifier chose; without it, a copy of the receipt proves just as much",
    },
    "show-deposit": { help: "make it even if it reveals which deposit, and so which account, paid" },
    output: { value: "FILE", help: "write to this file instead of standard output", short: "o" },
  },
  details: [
    "PAYMENT is an id from `sotto payments`. The receipt reveals the recipient, amount, resource and time of this payment",
    "and the owner tag of the note that paid: half of this wallet's address, or the tag of one deposit. It reveals nothing",
    "else. It needs the journal, so a wallet restored from words has no receipts of old payments.",
  ],
  async run(context) {
    const { args } = context;
    const id = args.positional(0, "PAYMENT");
    const challenge = args.text("challenge");
    return withWallet(context, false, async (session) => {
      await scan(session);
      const made = await session.wallet.receipt(id, { challenge, showDeposit: args.flag("show-deposit") });
      const file = args.text("output");
      if (file === undefined) return { json: made, text: [JSON.stringify(made, null, 2)] };
      writePrivate(file, `${JSON.stringify(made, null, 2)}\n`, false);
      return { json: { file, transaction: made.transaction }, text: [`receipt written to ${file}`] };
    });
  },
};

export const receiptCheck: Command = {
  name: "receipt check",
  summary: "Checks a receipt against the chain.",
  positionals: ["FILE"],
  options: {
    challenge: { value: "TEXT", help: "the text that you chose; a receipt for another text is rejected" },
    confirmations: { value: "N", help: "confirmations the payment needs; default: finality plus 1" },
    "viewing-key": {
      value: "FILE",
      help: "a file of `sotto view-key`; a receipt of a payment to another address is rejected",
    },
  },
  details: [
    "FILE is - for standard input. An invalid receipt ends with exit code 7. Without --challenge, a valid receipt proves",
    "that its author paid, but not that the person who shows it is its author. No key is needed. With --viewing-key, it",
    "says which month's address was paid.",
  ],
  async run(context) {
    const value = await readJson(context, context.args.positional(0, "FILE"));
    const challenge = context.args.text("challenge");
    const file = context.args.text("viewing-key");
    const keys = file === undefined ? undefined : readViewingKeys(context, file);
    return withChain(context, async (chain, config) => {
      const confirmations = context.args.integer("confirmations", 1, 1000) ?? config.finality + 1;
      const { chainId, pool } = config;
      const checked = await assertReceipt(value, { chain, chainId, pool, confirmations, challenge });
      const paidTo = keys === undefined ? undefined : addressOf(checked, keys);
      return {
        json: {
          valid: true,
          ...receiptFields(checked, config),
          ...(paidTo === undefined ? {} : { month: paidTo.month ?? null }),
        },
        text: [
          ...receiptText(checked, config),
          ...(paidTo === undefined ? [] : [`It was paid to the ${paidTo.month ?? "lasting"} address of these keys.`]),
        ],
      };
    });
  },
};

/** @throws ReceiptError RECEIPT_ELSEWHERE if the payment went to an address of none of these keys */
function addressOf(checked: CheckedReceipt, keys: ViewingKeys): { readonly month?: Month | undefined } {
  const key = keyOfReceipt(checked, keys);
  if (key !== undefined) return key;
  const opened = describeKeys(keys);
  throw new ReceiptError(
    "RECEIPT_ELSEWHERE",
    `the receipt is for a payment to another address than those of ${opened}; use the key of its month`,
  );
}

/** Reads JSON from a file, or from standard input if `file` is `-`. @throws CliError FILE_UNREADABLE */
export async function readJson({ streams }: Context, file: string, maxBytes = MAX_RECEIPT_BYTES): Promise<unknown> {
  const text = file === "-" ? await readInput(streams.stdin, maxBytes) : readText(file, maxBytes);
  try {
    return JSON.parse(trimPasted(text));
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
    challenge === "" ? "It has no challenge, so it may be a copy." : `Its challenge is "${printable(challenge)}".`,
  ];
}
