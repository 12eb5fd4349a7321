// The end of the story: every balance, as it must be and as it is found.
import { DEPOSITED, MINTED, RELAYER_FEE, TIP, usdc, WITHDRAWN } from "./amounts.ts";
import { paint, type Screen, table } from "./terminal.ts";
import type { World } from "./world.ts";

export interface Balance {
  readonly what: string;
  readonly unit: "USDC" | "wei";
  readonly expected: bigint;
  readonly found: bigint;
}

const TAKEN_OUT = WITHDRAWN + RELAYER_FEE;

export async function readBalances(world: World): Promise<Balance[]> {
  const { agent, merchant, relayer, provider, token, transactions } = world;
  await transactions.news();
  const paid = world.sales.reduce((sum, { price }) => sum + price, TIP);
  await Promise.all([agent.wallet.scan(), merchant.wallet.scan(), merchant.server.scan()]);
  const dollars = async (address: string) => BigInt(await token.getFunction("balanceOf")(address));
  const ether = (address: string) => provider.getBalance(address);
  const gas = transactions.receipts.reduce((sum, { fee }) => sum + fee, 0n);
  const inUsdc = (what: string, expected: bigint, found: bigint): Balance => ({ what, unit: "USDC", expected, found });
  const inWei = (what: string, expected: bigint, found: bigint): Balance => ({ what, unit: "wei", expected, found });
  return [
    inUsdc("agent, shielded", DEPOSITED - paid, agent.wallet.balance().total),
    inUsdc("agent, account", MINTED - DEPOSITED, await dollars(agent.account.address)),
    inUsdc("merchant, shielded", paid - TAKEN_OUT, merchant.wallet.balance().total),
    inUsdc("merchant, account", WITHDRAWN, await dollars(merchant.account.address)),
    inUsdc("merchant's server, received in all", paid, merchant.server.total()),
    inUsdc("relayer, account", RELAYER_FEE, await dollars(relayer.address)),
    inUsdc("pool", DEPOSITED - TAKEN_OUT, await dollars(world.pool)),
    inUsdc(
      "pool, as what the wallets hold",
      agent.wallet.balance().total + merchant.wallet.balance().total,
      await dollars(world.pool),
    ),
    inWei("agent, ether", 0n, await ether(agent.account.address)),
    inWei("merchant, ether", 0n, await ether(merchant.account.address)),
    inWei("relayer, ether spent: all the gas", gas, relayer.ether - (await ether(relayer.address))),
  ];
}

/** Prints the balances. @returns those that are not what they must be */
export function printBalances(screen: Screen, balances: readonly Balance[]): Balance[] {
  const text = (amount: bigint, unit: Balance["unit"]) =>
    unit === "wei" || amount < 0n ? `${amount} ${unit}` : usdc(amount);
  const rows = balances.map(({ what, unit, expected, found }) => [
    what,
    text(expected, unit),
    text(found, unit),
    expected === found ? paint(screen, "green", "exact") : paint(screen, "red", "DIFFERENT"),
  ]);
  screen.write(table([["balance", "must be", "is", ""].map((title) => paint(screen, "bold", title)), ...rows]));
  return balances.filter(({ expected, found }) => expected !== found);
}
