// The end of the demo: compares every balance with the expected one.

import { paint, type Screen, table } from "@sotto/command/terminal";
import { listPrepaid } from "@sotto/prepaid/client";
import { DEPOSITED, MINTED, RELAYER_FEE, TIP, usdc, WITHDRAWN } from "./amounts.ts";
import type { World } from "./world.ts";

export interface Balance {
  readonly what: string;
  readonly unit: "USDC" | "wei";
  readonly expected: bigint;
  readonly found: bigint;
}

const LEFT_POOL = WITHDRAWN + RELAYER_FEE;

export async function readBalances(world: World): Promise<Balance[]> {
  const { payer, merchant, relayer, provider, token, transactions } = world;
  const { bought, spent } = world.prepaid;
  const { in: added, out: cashed } = world.moved;
  const paid = world.sales.reduce((sum, { price }) => sum + price, TIP);
  const tokens = (await listPrepaid(payer.wallet)).reduce((sum, { unspent }) => sum + unspent, 0n);
  await Promise.all([payer.wallet.scan(), merchant.wallet.scan(), merchant.server.scan()]);
  await transactions.readNew();
  // The relayer may still append the last notes, so everything is read at the last block whose gas is known.
  const at = { blockTag: transactions.block };
  const dollars = async (address: string) => BigInt(await token.getFunction("balanceOf")(address, at));
  const ether = (address: string) => provider.getBalance(address, at.blockTag);
  const gas = transactions.receipts.reduce((sum, { fee }) => sum + fee, 0n);
  const inUsdc = (what: string, expected: bigint, found: bigint): Balance => ({ what, unit: "USDC", expected, found });
  const inWei = (what: string, expected: bigint, found: bigint): Balance => ({ what, unit: "wei", expected, found });
  return [
    inUsdc("payer, shielded", DEPOSITED + added - cashed - paid, payer.wallet.balance().total),
    inUsdc("payer, prepaid tokens", bought - spent, tokens),
    inUsdc("payer, account", MINTED - DEPOSITED - added + cashed, await dollars(payer.account.address)),
    inUsdc("merchant, shielded", paid - LEFT_POOL, merchant.wallet.balance().total),
    inUsdc("merchant, account", WITHDRAWN, await dollars(merchant.account.address)),
    inUsdc("merchant, seen by server", paid - TIP, merchant.server.total()),
    inUsdc("relayer, account", RELAYER_FEE, await dollars(relayer.address)),
    inUsdc("pool", DEPOSITED + added - cashed - LEFT_POOL, await dollars(world.pool)),
    inUsdc(
      "pool, sum of both wallets",
      payer.wallet.balance().total + merchant.wallet.balance().total,
      await dollars(world.pool),
    ),
    inWei("payer, ETH", 0n, await ether(payer.account.address)),
    inWei("merchant, ETH", 0n, await ether(merchant.account.address)),
    inWei("relayer, ETH spent on gas", gas, relayer.ether - (await ether(relayer.address))),
  ];
}

/** Prints the balances. @returns those that differ from the expected ones */
export function printBalances(screen: Screen, balances: readonly Balance[]): Balance[] {
  const text = (amount: bigint, unit: Balance["unit"]) =>
    unit === "wei" || amount < 0n ? `${amount} ${unit}` : usdc(amount);
  const rows = balances.map(({ what, unit, expected, found }) => [
    what,
    text(expected, unit),
    text(found, unit),
    expected === found ? paint(screen, "green", "exact") : paint(screen, "red", "DIFFERENT"),
  ]);
  const titles = ["balance", "expected", "found", ""].map((title) => paint(screen, "bold", title));
  screen.write(table([titles, ...rows]));
  return balances.filter(({ expected, found }) => expected !== found);
}
