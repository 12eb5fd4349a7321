// What others learn from the demo's payments: an observer of the chain from the transactions' receipts, and the service
// from the requests it receives. This file reads nothing else.

import {
  addMonths,
  monthAt,
  rangeSignals,
  type WireBundle,
  type WithdrawalCall,
  withdrawalSignals,
} from "@sotto/protocol";
import { type DepositRequest, decodeEvent, type PoolEvent, type Wallet } from "@sotto/wallet";
import { hexlify, id, sha256, type TransactionReceipt, toUtf8Bytes } from "ethers";
import { TIP, usdc } from "./amounts.ts";
import { PHONE, type SeenRequest, type World } from "./world.ts";

/** Maximum number of payments or requests in a step that are described one by one. */
const MAX_SINGLE = 2;
const TRANSFER = id("Transfer(address,address,uint256)");

/** The first characters of a number or an address. */
export const short = (value: bigint | string): string => {
  const hex = typeof value === "bigint" ? `0x${value.toString(16).padStart(64, "0")}` : value.toLowerCase();
  return `${hex.slice(0, 10)}..`;
};

const countNotes = (count: number): string => (count === 1 ? "1 note" : `${count} notes`);

/** The pool's events in a transaction. */
export const eventsOf = (pool: string, receipt: TransactionReceipt): PoolEvent[] =>
  receipt.logs
    .filter((log) => log.address.toLowerCase() === pool)
    .map((log) => decodeEvent({ ...log, topics: log.topics, logIndex: log.index }))
    .filter((event) => event !== undefined);

/** What an observer learns from these transactions. */
export function observe(pool: string, receipts: readonly TransactionReceipt[]): string[] {
  const events = receipts.map((receipt) => eventsOf(pool, receipt));
  const settling = events.filter((found) => found.some(({ type }) => type === "settled"));
  const payments = settling.flat().filter(({ type }) => type === "settled").length;
  if (payments <= MAX_SINGLE)
    return receipts.flatMap((receipt, index) => describeTransaction(receipt, events[index] ?? []));
  const appended = events.flat().reduce((sum, event) => (event.type === "appended" ? sum + event.count : sum), 0);
  return [
    `${payments} times some note was spent, in ${settling.length} transactions`,
    `${countNotes(appended)} joined the tree`,
    "no amount, sender, recipient or resource; no link between two of them",
  ];
}

function describeTransaction(receipt: TransactionReceipt, events: readonly PoolEvent[]): string[] {
  const deposited = events.filter((event) => event.type === "deposited");
  if (deposited.length === 0) return events.flatMap(describeEvent);
  const total = deposited.reduce((sum, { amount }) => sum + amount, 0n);
  return [
    `${usdc(total)} of ${short(depositorIn(receipt))} entered the pool in ${countNotes(deposited.length)}: deposits are public`,
  ];
}

/** The sender of the token's transfer in the same transaction. */
function depositorIn({ logs }: TransactionReceipt): string {
  const transfer = logs.find(({ topics }) => topics[0] === TRANSFER);
  return `0x${transfer?.topics[1]?.slice(-40)}`;
}

function describeEvent(event: PoolEvent): string[] {
  switch (event.type) {
    case "deposited":
      return [];
    case "appended":
      return [`${countNotes(event.count)} joined the tree, root ${short(event.newRoot)}`];
    case "settled":
      return [
        `nullifier ${short(event.nullifier)}: some note was spent`,
        `ciphertext ${short(event.ephemeralX)} ${short(event.hiddenCipherX)}`,
        `new notes ${short(event.recipientCommitment)} ${short(event.changeCommitment)}`,
        "no amount, sender, recipient or resource",
      ];
    case "withdrawn": {
      const spent = event.nullifiers.filter((nullifier) => nullifier !== 0n).length;
      const fee = event.fee === 0n ? "" : `, ${usdc(event.fee)} fee to ${short(event.feeRecipient)}`;
      return [
        event.amount === 0n
          ? `${countNotes(spent)} merged into one; nothing left the pool`
          : `${countNotes(spent)} spent: ${usdc(event.amount - event.fee)} to ${short(event.recipient)}${fee}`,
        `new note ${short(event.commitment)} of unknown amount`,
      ];
    }
  }
}

/** What the service learns from these requests. */
export function seenInRequests(requests: readonly SeenRequest[]): string[] {
  const kinds = new Map<string, SeenRequest[]>();
  for (const request of requests) {
    const kind = `${request.method} ${request.path}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), request]);
  }
  return [...kinds].flatMap(([kind, same]) =>
    same.length > MAX_SINGLE
      ? [`${same.length} times ${kind}, the first: ${describeRequest(same[0]!)}`]
      : same.map((request) => `${kind}: ${describeRequest(request)}`),
  );
}

function describeRequest({ path, body }: SeenRequest): string {
  if (path.endsWith("/deposit")) return seenInDeposit(body as DepositRequest);
  if (path.endsWith("/phone/link")) return "a wallet's signature that links this number to a shielded address";
  if (path.endsWith("/phone/verify")) return "the code that was sent to the phone";
  if (path.includes("/phone/resolve/")) return "someone is about to pay this number";
  if (path.endsWith("/verify")) return seenInPayment(body as WireBundle);
  if (path.endsWith("/settle")) return "the same proof, with the token from verify";
  if (path.endsWith("/withdraw")) return seenInWithdrawal(body as WithdrawalCall);
  return "";
}

function seenInDeposit({ from, amounts }: DepositRequest): string {
  const total = amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
  return `${short(from)} signed a deposit of ${usdc(total)} in ${countNotes(amounts.length)}; the chain shows the same`;
}

function seenInPayment({ recipientPublicKey, resourceUrl, amountPublicSignals }: WireBundle): string {
  const { lowerBound, upperBound } = rangeSignals(amountPublicSignals.map(BigInt));
  return `${short(recipientPublicKey)} gets ${usdc(lowerBound)} to ${usdc(upperBound)} for ${resourceUrl}; the payer is not shown`;
}

function seenInWithdrawal({ signals, recipient, fee }: WithdrawalCall): string {
  const { nullifiers, amount } = withdrawalSignals(signals.map(BigInt));
  const spent = nullifiers.filter((nullifier) => nullifier !== 0n).length;
  const toRelayer = BigInt(fee) === 0n ? "" : `, ${usdc(BigInt(fee))} to the relayer`;
  const leaves =
    amount === 0n ? "nothing leaves the pool" : `${usdc(amount - BigInt(fee))} to ${short(recipient)}${toRelayer}`;
  return `a valid proof that spends ${countNotes(spent)}; ${leaves}`;
}

/** A value that must not be in any public part of a payment. */
interface Secret {
  readonly what: string;
  /** Lower-case hex without 0x, as the chain would show it. */
  readonly bytes: string;
}

const word = (amount: bigint): string => amount.toString(16).padStart(64, "0");
const hex = (text: string): string => text.toLowerCase().replace(/^0x/, "");
const utf8 = (text: string): string => hex(hexlify(toUtf8Bytes(text)));

function secretsOf({ payer, merchant, sales, servers = [] }: World): Secret[] {
  // A shielded address consists of an encryption key and an owner tag.
  const addressesOf = ({ wallet }: { readonly wallet: Wallet }) => {
    const month = monthAt(wallet.now());
    return [wallet.shieldedAddress, wallet.addressOfMonth(month), wallet.addressOfMonth(addMonths(month, -1))];
  };
  const addresses = [merchant, payer].flatMap(addressesOf).map(hex);
  const halves = addresses.flatMap((address) => [address.slice(0, 64), address.slice(64)]);
  return [
    ...[payer.account, merchant.account].map(({ address }) => ({ what: "both accounts", bytes: hex(address) })),
    ...halves.map((bytes) => ({ what: "the shielded addresses", bytes })),
    ...[...sales.map(({ price }) => price), TIP].map((price) => ({ what: "the prices", bytes: word(price) })),
    ...servers.map(({ origin }) => ({ what: "the servers' origins", bytes: utf8(origin) })),
    { what: "the phone number", bytes: utf8(PHONE) },
    { what: "its hash", bytes: hex(sha256(toUtf8Bytes(PHONE))) },
  ];
}

export interface Search {
  /** Names of the secrets that were searched for. */
  readonly secrets: readonly string[];
  /** Names of those that were found. */
  readonly found: readonly string[];
  /** Number of bytes that were searched. */
  readonly size: number;
}

/** Searches the calldata and the events' topics and data of these transactions for secrets. */
export async function searchSecrets(world: World, receipts: readonly TransactionReceipt[]): Promise<Search> {
  const sent = await Promise.all(receipts.map(({ hash }) => world.provider.getTransaction(hash)));
  const logged = receipts.flatMap(({ logs }) => logs.flatMap(({ topics, data }) => [...topics, data]));
  const shown = [...sent.map((transaction) => transaction?.data ?? ""), ...logged].map(hex);
  const secrets = secretsOf(world);
  const leaked = secrets.filter(({ bytes }) => shown.some((text) => text.includes(bytes)));
  const names = (of: readonly Secret[]) => [...new Set(of.map(({ what }) => what))];
  return { secrets: names(secrets), found: names(leaked), size: shown.join("").length / 2 };
}
