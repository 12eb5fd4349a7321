// Adds and withdraws funds: faucet, deposits by signature, withdrawals; and registers the owner's phone number.

import { type LookupSigner, signPhoneLink } from "@sotto/client";
import { trimPasted } from "@sotto/protocol";
import { type CashedOut, type CashOutProgress, type DepositSigner, splitAmount } from "@sotto/wallet";
import { Wallet as Account, TypedDataEncoder } from "ethers";
import { WebError } from "../errors.ts";
import type { OnProgress, PageSigner } from "./api.ts";
import type { Context } from "./context.ts";
import { cashOutText, fundingText } from "./stages.ts";

/** With several notes, the next payment does not have to wait for the change of the previous one. */
const NOTES = 4;
/** A smaller deposit makes a single note, base units. */
const MIN_SPLIT = 1_000_000n;
const FAUCET_MS = 30_000;

export const accountOf = ({ secrets }: Pick<Context, "secrets">): Account => new Account(secrets.account);

/** Mints test tokens to the test account. @throws WebError FAUCET_FAILED */
export async function drip(context: Context): Promise<void> {
  const { faucet } = context.config;
  if (faucet === undefined) throw new WebError("FAUCET_FAILED", "this host has no faucet");
  const failed = (message: string, cause?: unknown) => new WebError("FAUCET_FAILED", message, {}, { cause });
  const response = await fetch(`${faucet}/drip`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ address: accountOf(context).address }),
    signal: AbortSignal.timeout(FAUCET_MS),
  }).catch((cause: unknown) => {
    throw failed("the faucet does not answer", cause);
  });
  if (!response.ok) throw failed(`the faucet answers ${response.status}`);
  await context.refresh();
}

/** Deposits with a signed authorization, which the service submits. */
export async function deposit(
  context: Context,
  amount: bigint,
  signer: PageSigner | undefined,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<void> {
  const { wallet } = context;
  const amounts = amount >= MIN_SPLIT ? splitAmount(amount, NOTES) : [amount];
  await wallet.fund({
    amounts,
    account: signerOf(context, signer),
    signal,
    onProgress: ({ stage, transaction }) => onProgress({ stage: fundingText(stage), transaction }),
  });
}

/** Continues deposits that were signed before the page was closed. Each is executed once. */
export async function resumeDeposits({ wallet, refresh }: Context): Promise<void> {
  for (const { id } of await wallet.unfinishedDeposits()) {
    // Without a response, the deposit stays unfinished and is retried when the wallet is next opened.
    await wallet.resumeDeposit(id).catch(() => undefined);
    await refresh();
  }
}

/** Withdraws through the service, or resumes an identical unfinished withdrawal. Each is executed once. */
export function withdraw(
  { wallet }: Pick<Context, "wallet">,
  recipient: string,
  amount: bigint,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<CashedOut> {
  return wallet.cashOut({ recipient: trimPasted(recipient), amount, signal, onProgress: inWords(onProgress) });
}

export function resumeWithdrawal(
  { wallet }: Pick<Context, "wallet">,
  id: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<CashedOut> {
  return wallet.resumeWithdrawal(id, { signal, onProgress: inWords(onProgress) });
}

/** Begins with an additional stage if an earlier call began the withdrawal. */
function inWords(onProgress: OnProgress): (progress: CashOutProgress) => void {
  let said = false;
  return ({ stage, transaction, resumed }) => {
    if (resumed && !said) onProgress({ stage: "Resuming the withdrawal that was started before" });
    said = true;
    onProgress({ stage: cashOutText(stage), transaction });
  };
}

/** Resumes withdrawals and merges whose proof was made before the page was closed. */
export async function resumeWithdrawals({ wallet, refresh }: Pick<Context, "wallet" | "refresh">): Promise<void> {
  const open = wallet.history().filter(({ kind, state }) => kind === "withdrawal" && state === "open");
  const submitted = open.filter(({ id }) => wallet.proofOf(id) !== undefined);
  const executed = wallet.unfinishedWithdrawals().filter(({ transaction }) => transaction !== undefined);
  const ids = [...submitted, ...executed].map(({ id }) => id);
  // Without a response, the withdrawal stays unfinished: the page shows it with a button.
  await Promise.all(ids.map((id) => wallet.resumeWithdrawal(id).catch(() => undefined)));
  if (ids.length > 0) await refresh();
}

/** Binds an account to the wallet's address at the registry, which sends a code to the number. */
export async function linkNumber(context: Context, phone: string, signer: PageSigner | undefined) {
  const { wallet, registry } = context;
  const link = await signPhoneLink(wallet, signerOf(context, signer), { phone, service: registry.url });
  await registry.link({ ...link });
  return { phone: link.phoneNumber, wallet: link.walletAddress };
}

export async function proveNumber(
  { registry }: Context,
  { phone, wallet }: { phone: string; wallet: string },
  code: string,
): Promise<void> {
  await registry.phoneVerify({ phoneNumber: phone, walletAddress: wallet, code: trimPasted(code) });
}

/** A page's account in the form that the client expects. */
function signerOf(context: Context, signer: PageSigner | undefined): DepositSigner & LookupSigner {
  if (signer === undefined) return accountOf(context);
  return {
    getAddress: () => signer.address(),
    async signTypedData(domain, types, value) {
      return signer.sign(JSON.stringify(TypedDataEncoder.getPayload(domain, types, value)));
    },
  };
}
