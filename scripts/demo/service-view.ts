// What the service learns from a request: everything here is read from the request's body, nothing else.
import type { DepositRequest } from "@sotto/client";
import type { WireBundle, WithdrawalCall } from "@sotto/protocol";
import { usdc } from "./amounts.ts";
import { short } from "./observer.ts";

export function seenInDeposit({ from, amounts }: DepositRequest): string[] {
  const total = amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
  return [`POST /zk/deposit: ${short(from)} signed a deposit of ${usdc(total)}, as the chain will show`];
}

export function seenInPayment(bundle: WireBundle, expiresIn: number): string[] {
  const { recipientPublicKey, resourceUrl, amountPublicSignals, publicSignals } = bundle;
  const [lowest, highest] = amountPublicSignals.slice(4).map(BigInt) as [bigint, bigint];
  return [
    `POST /zk/verify: pays ${short(recipientPublicKey)} for ${resourceUrl}, ${usdc(lowest)} to ${usdc(highest)}`,
    `both proofs hold, nullifier ${short(BigInt(publicSignals[6] ?? 0))} is unspent: a token for ${expiresIn} s`,
    "POST /zk/settle: the token and the same proof; nothing names the payer, and of the amount there are only the bounds",
  ];
}

export function seenInWithdrawal({ signals, recipient, fee }: WithdrawalCall): string[] {
  const nullifiers = signals.slice(3, 11).filter((nullifier) => nullifier !== "0").length;
  const amount = BigInt(signals[1] ?? 0);
  const leaves =
    amount === 0n
      ? "nothing leaves the pool"
      : `${usdc(amount - BigInt(fee))} to ${short(recipient)}, ${usdc(BigInt(fee))} to the relayer`;
  return [
    `POST /zk/withdraw: the proof holds and spends ${nullifiers === 1 ? "1 note" : `${nullifiers} notes`}; ${leaves}`,
    "neither which notes these are nor what they hold",
  ];
}
