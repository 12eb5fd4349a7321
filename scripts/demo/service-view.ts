// What the service learns from requests: everything here is read from them, nothing else.
import type { DepositRequest } from "@sotto/client";
import type { WireBundle, WithdrawalCall } from "@sotto/protocol";
import { usdc } from "./amounts.ts";
import { short } from "./observer.ts";
import type { SeenRequest } from "./wire.ts";

/** Requests of one kind in one step up to which each is told on its own. */
const FEW = 2;

export function seenInRequests(requests: readonly SeenRequest[]): string[] {
  const kinds = new Map<string, SeenRequest[]>();
  for (const request of requests) {
    const kind = `${request.method} ${request.path}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), request]);
  }
  return [...kinds].flatMap(([kind, same]) =>
    same.length > FEW
      ? [`${same.length} times ${kind}, the first: ${describe(same[0]!)}`]
      : same.map((request) => `${kind}: ${describe(request)}`),
  );
}

function describe({ path, body }: SeenRequest): string {
  if (path.endsWith("/deposit")) return seenInDeposit(body as DepositRequest);
  if (path.endsWith("/phone/link")) return "a wallet's signature: this number is paid at this shielded address";
  if (path.endsWith("/phone/verify")) return "the code that only who holds the phone has seen";
  if (path.includes("/phone/resolve/")) return "somebody is about to pay this number";
  if (path.endsWith("/verify")) return seenInPayment(body as WireBundle);
  if (path.endsWith("/settle")) return "the token it gave for that, and the same proof";
  if (path.endsWith("/withdraw")) return seenInWithdrawal(body as WithdrawalCall);
  return "";
}

function seenInDeposit({ from, amounts }: DepositRequest): string {
  const total = amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
  return `${short(from)} signed a deposit of ${usdc(total)} in ${amounts.length} notes, as the chain will show`;
}

const boundsOf = ({ amountPublicSignals }: WireBundle): readonly [bigint, bigint] =>
  amountPublicSignals.slice(4).map(BigInt) as [bigint, bigint];

function seenInPayment(bundle: WireBundle): string {
  const { recipientPublicKey, resourceUrl } = bundle;
  const [lowest, highest] = boundsOf(bundle);
  return `${usdc(lowest)} to ${usdc(highest)} go to ${short(recipientPublicKey)} for ${resourceUrl}; who pays is not said`;
}

function seenInWithdrawal({ signals, recipient, fee }: WithdrawalCall): string {
  const nullifiers = signals.slice(3, 11).filter((nullifier) => nullifier !== "0").length;
  const amount = BigInt(signals[1] ?? 0);
  const leaves =
    amount === 0n
      ? "nothing leaves the pool"
      : `${usdc(amount - BigInt(fee))} to ${short(recipient)}, ${usdc(BigInt(fee))} to the relayer`;
  return `the proof holds and spends ${nullifiers === 1 ? "1 note" : `${nullifiers} notes`}; ${leaves}`;
}
