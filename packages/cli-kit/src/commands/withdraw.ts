import type { WithdrawalCall } from "@sotto/protocol";
import {
  type CashedOut,
  type CashOutStage,
  ethersProvider,
  type ResumeWithdrawalOptions,
  sendCall,
  withdrawCall,
} from "@sotto/wallet";
import { confirm, YES } from "../ask.ts";
import type { Command } from "../command.ts";
import { amountFields, money } from "../format.ts";
import { toAmount } from "../frame/arguments.ts";
import { usage } from "../frame/errors.ts";
import { ACCOUNT_OPTIONS, readAccount } from "../home/account.ts";
import { type Config, readConfig } from "../home/config.ts";
import { type Session, serviceOf, withWallet } from "../session.ts";
import { WAIT_OPTIONS, waitUntil, whenReady } from "../wait.ts";

const WAIT_SECONDS = 120;

const MIX = {
  mix: {
    help: "spend notes together that the wallet keeps apart, which takes from some what can be shown of them",
  },
} as const;

const SENDING = {
  "own-gas": { help: "send it from your account (see --keystore), which pays the gas" },
  ...ACCOUNT_OPTIONS,
} as const;

export const withdraw: Command = {
  name: "withdraw",
  summary: "Moves tokens out of the pool to an address.",
  positionals: ["[AMOUNT]"],
  options: {
    to: { value: "ADDRESS", help: "the address that receives the tokens" },
    all: { help: "withdraw the eight largest notes; works even if the pool is full" },
    ...MIX,
    ...WAIT_OPTIONS,
    again: { value: "ID", help: "resume a withdrawal or merge of `sotto withdrawals`; it is never executed twice" },
    ...SENDING,
    ...YES,
  },
  details: [
    "The amount and the recipient are public. Withdrawing to the account that deposited, or withdrawing exactly the",
    "amount that was deposited, links the two.",
    "If it is interrupted, the same command resumes the withdrawal: it never withdraws twice.",
  ],
  async run(context) {
    const { args, home } = context;
    const config = readConfig(home);
    const again = args.text("again");
    const wait = args.integer("wait", 0, 86_400) ?? WAIT_SECONDS;
    const terms = again === undefined ? parseTerms(context.args, config) : undefined;
    if (terms !== undefined) {
      const what = terms.amount === undefined ? "the eight largest notes" : money(terms.amount, config);
      await confirm(context, `withdraw ${what} to ${terms.recipient}?`);
    }
    return withWallet(context, true, async (session) => {
      const done = await whenReady(session, wait, () => execute(session, again, terms));
      const { id, recipient, transaction, block, gasPaidBy = null, resumed } = done;
      const json = { id, ...amountFields(done.amount, config), recipient, transaction, block, gasPaidBy, resumed };
      const what = resumed ? "resumed an earlier withdrawal: withdrew" : "withdrew";
      return { json, text: [`${what} ${money(done.amount, config)} to ${recipient}: ${transaction}`] };
    });
  },
};

interface WithdrawalTerms {
  recipient: string;
  /** Undefined with --all. */
  amount: bigint | undefined;
}

function parseTerms(args: Parameters<Command["run"]>[0]["args"], config: Config): WithdrawalTerms {
  const recipient = args.address("to");
  if (recipient === undefined) throw usage("--to ADDRESS is missing: the address that receives the tokens");
  const amount = args.optional(0);
  if (args.flag("all") === (amount !== undefined)) throw usage("give either AMOUNT or --all");
  return { recipient, amount: amount === undefined ? undefined : toAmount(amount, "AMOUNT", config.decimals) };
}

const STAGES: Readonly<Record<CashOutStage, string>> = {
  proving: "proving",
  submitting: "sending",
  settling: "waiting for the service",
  confirming: "waiting until the node shows the withdrawal",
  withdrawn: "withdrawn",
};

function execute(session: Session, again: string | undefined, terms: WithdrawalTerms | undefined): Promise<CashedOut> {
  const { wallet, config, context } = session;
  const { args, output, signal } = context;
  const options: ResumeWithdrawalOptions = {
    ...(args.flag("own-gas")
      ? { submit: (call: WithdrawalCall) => sendFromAccount(session, call) }
      : { service: serviceOf(config) }),
    signal,
    onProgress: ({ stage, resumed }) => output.progress(resumed ? `resuming: ${STAGES[stage]}` : STAGES[stage]),
  };
  if (terms === undefined) return wallet.resumeWithdrawal(again ?? "", options);
  const { recipient, amount } = terms;
  const mix = args.flag("mix");
  return wallet.cashOut({ recipient, mix, ...(amount === undefined ? { all: true } : { amount }), ...options });
}

async function sendFromAccount({ context, config, chain }: Session, call: WithdrawalCall) {
  const { args, environment } = context;
  const account = await readAccount(args.text("keystore"), environment, config.chainId);
  const { hash, blockNumber } = await sendCall(account.connect(ethersProvider(chain)), withdrawCall(config.pool, call));
  return { transaction: hash, block: blockNumber, gasPaidBy: account.address.toLowerCase() };
}

/** Submits a merge through the service, or with --own-gas from the user's account. */
async function sendMerge(session: Session, call: WithdrawalCall) {
  const { context, config } = session;
  const { args, output, signal } = context;
  output.progress("sending");
  if (args.flag("own-gas")) return sendFromAccount(session, call);
  const waiting = () => output.progress("waiting for the service");
  const settled = await serviceOf(config).withdraw(call, { signal, onPending: waiting });
  return { transaction: settled.txSignature, block: settled.blockNumber, gasPaidBy: settled.gasFeePaidBy };
}

export const merge: Command = {
  name: "merge",
  summary: "Merges up to eight notes into one.",
  positionals: [],
  options: {
    target: { value: "AMOUNT", help: "smallest amount of the new note; default: the eight largest notes" },
    ...MIX,
    ...WAIT_OPTIONS,
    ...SENDING,
  },
  details: [
    `The tokens stay in the pool. The command waits ${WAIT_SECONDS} s for the note to become spendable, or as --wait says.`,
  ],
  async run(context) {
    const { args, home, output, signal } = context;
    const config = readConfig(home);
    const target = args.amount("target", config.decimals);
    const wait = args.integer("wait", 0, 86_400) ?? WAIT_SECONDS;
    return withWallet(context, true, async (session) => {
      output.progress("proving");
      const { wallet } = session;
      const made = await whenReady(session, wait, () => wallet.merge({ target, mix: args.flag("mix") }, { signal }));
      const sent = await sendMerge(session, made.withdraw);
      if (wait > 0)
        await waitUntil(session, wait, "the merged note", () =>
          wallet
            .notes()
            .some(({ transactionHash, state }) => transactionHash === sent.transaction && state === "spendable"),
        );
      const json = { id: made.id, notes: made.notes.length, ...amountFields(made.output, config), ...sent };
      return {
        json,
        text: [`merged ${made.notes.length} notes into one of ${money(made.output, config)}: ${sent.transaction}`],
      };
    });
  },
};
