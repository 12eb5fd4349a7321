import {
  CliError,
  type Command,
  type Context,
  counted,
  money,
  printable,
  readConfig,
  readText,
  usage,
  withWallet,
} from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import { type CheckedCharges, checkCharges, keptReceipts, keptTerms, PrepaidError } from "../client.ts";
import {
  type Contradiction,
  MAX_RECEIPT_LENGTH,
  MAX_TERMS_ANSWER_BYTES,
  type MeteredTerms,
  parseReceipt,
  parseTermsAnswer,
  type SignedMeteredTerms,
  type SignedReceipt,
  verifyTermsSignature,
} from "../index.ts";
import { receiptFields } from "./list.ts";

export const prepaidCheckReceipt: Command = {
  name: "prepaid check-receipt",
  summary: "Checks receipts of metered requests, without a network.",
  positionals: ["[FILE]"],
  options: {
    terms: {
      value: "FILE",
      help: "the merchant's signed terms, as it shows them; can be repeated; default: those that this wallet has seen",
      multiple: true,
    },
    against: {
      value: "FILE",
      help: "another receipt of the merchant, which may contradict the first one; can be repeated",
      multiple: true,
    },
    units: { value: "NAME=COUNT", help: "what you counted, such as output=450; can be repeated", multiple: true },
  },
  details: [
    "FILE is a receipt as JSON, such as `receipt` of `sotto prepaid list --json`. Without FILE, all receipts of this wallet are",
    "checked. A receipt must be signed by the merchant's receipt key, its charge must follow from rule and units, and nothing",
    "may contradict anything else that the merchant signed. If something does, the command names it and ends with exit code 7.",
  ],
  async run(context) {
    const files = context.args.texts("terms");
    const file = context.args.optional(0);
    const counts = countsOf(context.args.texts("units"));
    const others = context.args.texts("against");
    if (others.length > 0 && file === undefined) throw usage("--against needs FILE: the receipt to compare with");
    if (counts !== undefined && (file === undefined || others.length > 0))
      throw usage("--units needs FILE, without --against: the counts are of one request");
    const receipts = file === undefined ? undefined : [file, ...others].map(readReceipt);
    if (receipts !== undefined && files.length > 0)
      return resultOf(context, checkCharges(receipts, await readTerms(files), counts));
    return withWallet(context, false, async ({ wallet }) => {
      const terms = files.length > 0 ? await readTerms(files) : (await keptTerms(wallet)).map((signed) => signed.terms);
      return resultOf(context, checkCharges(receipts ?? (await keptReceipts(wallet)), terms, counts));
    });
  },
};

function countsOf(texts: readonly string[]): Record<string, bigint> | undefined {
  if (texts.length === 0) return undefined;
  const entries = texts.map((text) => {
    const match = /^([a-z][a-z0-9_]{0,31})=(0|[1-9][0-9]{0,19})$/.exec(text);
    if (match === null) throw usage(`--units must be such as output=450, got ${printable(text)}`);
    return [match[1]!, BigInt(match[2]!)] as const;
  });
  return Object.fromEntries(entries);
}

/** @throws CliError FILE_UNREADABLE */
function parsedFile<T>(path: string, max: number, parse: (text: string) => T): T {
  const text = readText(path, max).trim();
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new CliError("FILE_UNREADABLE", `${path}: ${cause.message}`, {}, { cause });
  }
}

const readReceipt = (path: string): SignedReceipt => parsedFile(path, 2 * MAX_RECEIPT_LENGTH, parseReceipt);

/** Reads terms and verifies their signatures. @throws CliError FILE_UNREADABLE */
async function readTerms(paths: readonly string[]): Promise<MeteredTerms[]> {
  const terms: MeteredTerms[] = [];
  for (const path of paths)
    for (const signed of parsedFile(path, MAX_TERMS_ANSWER_BYTES, parseTermsAnswer)) {
      if (!(await isSigned(signed)))
        throw new CliError(
          "FILE_UNREADABLE",
          `${path}: the terms are not signed by the account ${signed.terms.wallet}`,
        );
      terms.push(signed.terms);
    }
  return terms;
}

/** Without a network, only the signature of an account can be verified, not that of a contract wallet. */
const isSigned = (signed: SignedMeteredTerms): Promise<boolean> =>
  verifyTermsSignature(signed, () => Promise.reject(new Error("no network"))).catch((error: unknown) => {
    if (error instanceof SottoError) return false;
    throw error;
  });

const AGAINST: Readonly<Record<Contradiction["kind"], string>> = {
  token: "the merchant signed two different receipts for one token",
  charge: "the charge of a receipt does not follow from its rule and units",
  rule: "a receipt names another rule than the signed terms have for its request",
  terms: "the merchant signed two rules for the same requests and month, or two receipt keys for one month",
};

function resultOf(context: Context, { charges, contradictions }: CheckedCharges) {
  const found = new Set(contradictions.map(({ kind }) => AGAINST[kind]));
  const unsigned = charges.filter(({ signed }) => !signed).length;
  const unknown = charges.filter(({ signed, ruleKnown }) => signed && !ruleKnown).length;
  const differing = charges.flatMap((each) => each.differing);
  const problems = [
    ...found,
    ...(unsigned > 0 ? [`not signed by a receipt key of the terms: ${counted(unsigned, "receipt")}`] : []),
    ...(unknown > 0 ? [`charged by a rule that is in no terms: ${counted(unknown, "receipt")}`] : []),
    ...(differing.length > 0 ? [`the receipt counts other units than you: ${differing.join(", ")}`] : []),
  ];
  if (problems.length > 0)
    throw new PrepaidError("PREPAID_RECEIPT_CONTRADICTED", problems.join("; "), {
      kinds: contradictions.map(({ kind }) => kind).join(" "),
    });
  const config = readConfig(context.home);
  const sum = charges.reduce((total, { receipt }) => total + receipt.receipt.charge, 0n);
  return {
    json: { valid: true, receipts: charges.map(({ receipt }) => receiptFields(receipt, config)) },
    text: [
      `${counted(charges.length, "receipt")} checked: signed, and charged by the signed rules; the sum is ${money(sum, config)}`,
    ],
  };
}
