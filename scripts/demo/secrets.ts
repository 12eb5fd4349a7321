// What must not be found in anything public of a payment, as it would be written there.
import { hexlify, sha256, type TransactionReceipt, toUtf8Bytes } from "ethers";
import { TIP } from "./amounts.ts";
import { PHONE, type World } from "./world.ts";

interface Secret {
  readonly what: string;
  /** Hex without 0x, lower case. */
  readonly bytes: string;
}

const word = (amount: bigint): string => amount.toString(16).padStart(64, "0");
const hex = (text: string): string => text.toLowerCase().replace(/^0x/, "");
const utf8 = (text: string): string => hex(hexlify(toUtf8Bytes(text)));

function secretsOf({ agent, merchant, sales, shops = [] }: World): Secret[] {
  // Encryption key and owner tag of each.
  const addresses = [merchant.wallet.shieldedAddress, agent.wallet.shieldedAddress].map(hex);
  const halves = addresses.flatMap((address) => [address.slice(0, 64), address.slice(64)]);
  return [
    ...[agent.account, merchant.account].map(({ address }) => ({ what: "both accounts", bytes: hex(address) })),
    ...halves.map((bytes) => ({ what: "both shielded addresses", bytes })),
    ...[...sales.map(({ price }) => price), TIP].map((price) => ({ what: "the prices", bytes: word(price) })),
    ...shops.map(({ origin }) => ({ what: "the shops", bytes: utf8(origin) })),
    { what: "the phone number", bytes: utf8(PHONE) },
    { what: "its hash", bytes: hex(sha256(toUtf8Bytes(PHONE))) },
  ];
}

export interface Search {
  /** What was looked for. */
  readonly secrets: readonly string[];
  /** What of it is there. */
  readonly found: readonly string[];
  /** Bytes that were searched. */
  readonly size: number;
}

/** Looks for them in everything that these transactions show: calldata, topics and data of the events. */
export async function searchSecrets(world: World, receipts: readonly TransactionReceipt[]): Promise<Search> {
  const sent = await Promise.all(receipts.map(({ hash }) => world.provider.getTransaction(hash)));
  const logged = receipts.flatMap(({ logs }) => logs.flatMap(({ topics, data }) => [...topics, data]));
  const shown = [...sent.map((transaction) => transaction?.data ?? ""), ...logged].map(hex);
  const secrets = secretsOf(world);
  const there = secrets.filter(({ bytes }) => shown.some((text) => text.includes(bytes)));
  const names = (of: readonly Secret[]) => [...new Set(of.map(({ what }) => what))];
  return { secrets: names(secrets), found: names(there), size: shown.join("").length / 2 };
}
