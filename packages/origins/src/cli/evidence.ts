import {
  amountFields,
  type Command,
  counted,
  loadHomeArtifacts,
  money,
  readText,
  usage,
  withChain,
  withWallet,
  writePrivate,
} from "@sotto/cli-kit";
import { type Bytes32, trimPasted } from "@sotto/protocol";
import { createVerifier } from "@sotto/prover";
import { encodeEvidence } from "../core/evidence.ts";
import { parseSet } from "../core/set.ts";
import { assertEvidence, type CheckedEvidence } from "../evidence.ts";
import { SET_OPTIONS, setOf, withOrigins } from "./open.ts";

export const originEvidence: Command = {
  name: "origin evidence",
  summary: "Makes evidence that the money of one transaction was in a set.",
  positionals: [],
  options: {
    ...SET_OPTIONS,
    transaction: { value: "HASH", help: "the transaction of a payment, merge or withdrawal" },
    output: { value: "FILE", help: "write to this file instead of standard output", short: "o" },
  },
  details: [
    "The evidence shows which transaction it is about: give it to its reader only. It shows neither the deposit nor any other",
    "payment. `sotto origin check` checks it.",
  ],
  async run(context) {
    const { args, signal } = context;
    const set = setOf(context);
    const transaction = parseTransaction(args.required("transaction"));
    const file = args.text("output");
    return withWallet(context, false, ({ wallet }) =>
      withOrigins(wallet, async (origins) => {
        await origins.sync({ claims: false, signal });
        const evidence = await origins.evidence(set, transaction, { signal });
        const text = encodeEvidence(evidence);
        if (file === undefined) return { json: JSON.parse(text), text: [text.trimEnd()] };
        writePrivate(file, text, false);
        return { json: { file, transaction }, text: [`evidence written to ${file}`] };
      }),
    );
  },
};

/** @throws CliError USAGE */
function parseTransaction(text: string): Bytes32 {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw usage("--transaction must be 0x and 64 hexadecimal digits");
  return text.toLowerCase() as Bytes32;
}

export const originCheck: Command = {
  name: "origin check",
  summary: "Checks evidence of where a transaction's money comes from.",
  positionals: ["FILE"],
  options: {
    ...SET_OPTIONS,
    confirmations: { value: "N", help: "confirmations the transaction needs; default: finality plus 1" },
    offline: { help: "ask no node: then nothing shows that the transaction spent these notes" },
  },
  details: [
    "--key and --set are the curator and the set that you chose; never take them from the evidence. Wrong evidence ends with",
    "exit code 7. No key of a wallet is needed.",
  ],
  async run(context) {
    const { args, home, signal } = context;
    const text = trimPasted(readText(args.positional(0, "FILE")));
    const { curator, name } = setOf(context);
    return withChain(context, async (chain, config) => {
      const confirmations = args.integer("confirmations", 1, 1000) ?? config.finality + 1;
      const checked = await assertEvidence(text, {
        set: parseSet({ chainId: Number(config.chainId), pool: config.pool, curator, name }),
        verifier: createVerifier({ artifacts: await loadHomeArtifacts(home, config, signal) }),
        chain: args.flag("offline") ? undefined : chain,
        confirmations,
      });
      return { json: fieldsOf(checked, config), text: textOf(checked, config) };
    });
  },
};

type Money = Parameters<typeof money>[1];

const withdrawalOf = ({ event }: CheckedEvidence) => (event?.type === "withdrawn" ? event : undefined);

function fieldsOf(checked: CheckedEvidence, config: Money) {
  const { set, transaction, block, time, notes, event } = checked;
  const withdrawal = withdrawalOf(checked);
  return {
    valid: true,
    ...{ curator: set.curator, set: set.name, transaction, block },
    ...{ time: new Date(time * 1000).toISOString(), notes, onChain: event !== undefined },
    withdrawal:
      withdrawal === undefined ? null : { recipient: withdrawal.recipient, ...amountFields(withdrawal.amount, config) },
  };
}

function textOf(checked: CheckedEvidence, config: Money): string[] {
  const { set, transaction, block, time, notes, event } = checked;
  const withdrawal = withdrawalOf(checked);
  return [
    `valid: the money descends only from deposits that ${set.curator} accepted in the set ${set.name}`,
    `${counted(notes, "note")} spent at ${new Date(time * 1000).toISOString()} in block ${block}: ${transaction}`,
    ...(withdrawal === undefined ? [] : [`withdrawn: ${money(withdrawal.amount, config)} to ${withdrawal.recipient}`]),
    ...(event === undefined ? ["No node was asked whether the transaction spent these notes."] : []),
  ];
}
