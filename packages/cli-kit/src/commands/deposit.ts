import { LOCAL_CHAIN_IDS, parseAddress } from "@sotto/protocol";
import {
  type DepositSigner,
  ethersProvider,
  type FundingStage,
  sendCall,
  splitAmount,
  WalletError,
} from "@sotto/wallet";
import { type BaseWallet, Interface, type Signer } from "ethers";
import type { Command } from "../command.ts";
import { amountFields, counted, money } from "../format.ts";
import { toAmount } from "../frame/arguments.ts";
import { usage } from "../frame/errors.ts";
import { ACCOUNT_OPTIONS, readAccount } from "../home/account.ts";
import { readConfig } from "../home/config.ts";
import { type Session, serviceOf, withWallet } from "../session.ts";
import { pending, WAIT_OPTIONS, waitUntil } from "../wait.ts";

const WAIT_SECONDS = 120;
const mintable = new Interface(["function mint(address, uint256)"]);

export const deposit: Command = {
  name: "deposit",
  summary: "Moves an account's tokens into the pool, as notes of this wallet.",
  positionals: ["AMOUNT"],
  options: {
    notes: { value: "N", help: "number of notes, 1 to 64; parallel payments need one each; default 1" },
    from: {
      value: "ADDRESS",
      help: "a contract account that accepts signatures of the account's key; its tokens are deposited",
    },
    approve: { help: "the account sends the approval and the deposit itself and pays the gas" },
    mint: { help: "local chains only: mint the test tokens first" },
    ...WAIT_OPTIONS,
    ...ACCOUNT_OPTIONS,
  },
  details: [
    "The account signs (EIP-3009) and the service submits, so the account needs tokens but no ETH. With --approve it",
    "sends two transactions itself. With --from, the tokens are those of a contract account (EIP-1271); an account with a",
    "delegation (EIP-7702) needs no option. The chain shows the account and the amount of a deposit. A round amount, deposited",
    "some time before the first payment, is harder to link to that payment.",
    "If it is interrupted, the same command resumes the deposit: it never deposits twice.",
    `The command waits ${WAIT_SECONDS} s for the notes to become spendable, or as long as --wait says.`,
  ],
  async run(context) {
    const { args, environment, home, output } = context;
    const config = readConfig(home);
    const amount = toAmount(args.positional(0, "AMOUNT"), "AMOUNT", config.decimals);
    const count = args.integer("notes", 1, 64) ?? 1;
    const wait = args.integer("wait", 0, 86_400) ?? WAIT_SECONDS;
    if (args.flag("mint") && !LOCAL_CHAIN_IDS.includes(config.chainId))
      throw usage(`--mint works on local chains only, but the wallet is on chain ${config.chainId}`);
    const from = args.text("from");
    if (from !== undefined && args.flag("approve"))
      throw usage("--from and --approve exclude each other: a contract account sends its own transactions");
    const account = await readAccount(args.text("keystore"), environment, config.chainId);
    const depositor = parseAddress(from ?? account.address, "--from");
    return withWallet(context, false, async (session) => {
      const amounts = splitAmount(amount, count);
      if (args.flag("mint")) await mint(session, account, depositor, amount);
      output.progress("depositing");
      const done = args.flag("approve")
        ? await byApproval(session, account, amounts, wait)
        : await byService(session, signerOf(account, depositor), amounts, wait);
      const json = { ...amountFields(amount, config), notes: count, account: depositor, ...done };
      return {
        json,
        text: [`deposited ${money(amount, config)} in ${counted(count, "note")}: ${done.transaction}`],
      };
    });
  },
};

interface Deposited {
  transaction: string;
  block: number;
  /** Null if the deposit was interrupted after the service had submitted it. */
  gasPaidBy: string | null;
}

const STAGES: Readonly<Record<FundingStage, string>> = {
  signing: "depositing: signing",
  submitting: "depositing",
  settling: "waiting for the service",
  confirming: "waiting for the deposit's confirmations",
  appending: "waiting until the deposit is appended to the tree",
  spendable: "deposited",
};

/** Signs with the account's key for the depositor: itself, or a contract account. */
const signerOf = (account: BaseWallet, depositor: string): DepositSigner => ({
  getAddress: async () => depositor,
  signTypedData: (domain, types, value) => account.signTypedData(domain, types, value),
});

async function byService(
  { wallet, config, context }: Session,
  account: DepositSigner,
  amounts: bigint[],
  wait: number,
): Promise<Deposited> {
  const { output, signal } = context;
  try {
    const { transaction, block, gasPaidBy } = await wallet.fund({
      amounts,
      account,
      service: serviceOf(config),
      until: wait > 0 ? "spendable" : "deposited",
      timeoutMs: wait > 0 ? 1000 * wait : undefined,
      signal,
      onProgress: ({ stage }) => output.progress(STAGES[stage]),
    });
    return { transaction, block, gasPaidBy: gasPaidBy ?? null };
  } catch (error) {
    if (!(error instanceof WalletError) || error.code !== "TIMED_OUT") throw error;
    throw pending(error.message, error.details);
  }
}

async function byApproval(session: Session, account: BaseWallet, amounts: bigint[], wait: number): Promise<Deposited> {
  const { wallet, chain } = session;
  const before = new Set(wallet.notes().map(({ leafIndex }) => leafIndex));
  const calls = await wallet.deposit({ amounts, account: account.address });
  const sender = account.connect(ethersProvider(chain));
  await sendCall(sender, calls.approve);
  const { hash, blockNumber } = await sendCall(sender, calls.deposit);
  if (wait > 0)
    await waitUntil(session, wait, "the deposit", () => {
      const notes = wallet.notes().filter(({ transactionHash }) => transactionHash === hash);
      const usable = notes.filter(({ state, leafIndex }) => before.has(leafIndex) || state === "spendable");
      return usable.length === amounts.length;
    });
  return { transaction: hash, block: blockNumber, gasPaidBy: account.address.toLowerCase() };
}

async function mint({ config, chain }: Session, account: BaseWallet, depositor: string, amount: bigint): Promise<void> {
  const data = mintable.encodeFunctionData("mint", [depositor, amount]);
  await sendCall(await localSender(chain, account), { to: config.token, data });
}

/** The account if it has ETH, else the local node's first account. */
async function localSender(chain: Session["chain"], account: BaseWallet): Promise<Signer> {
  const provider = ethersProvider(chain);
  const funded = (await chain.balance(account.address)) > 0n;
  return funded ? account.connect(provider) : provider.getSigner(0);
}
