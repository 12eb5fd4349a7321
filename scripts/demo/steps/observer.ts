import type { WireBundle } from "@sotto/protocol";
import type { TransactionReceipt } from "ethers";
import { CommandError } from "../../lib/command.ts";
import { eventsOf, short } from "../observer.ts";
import { secretsOf } from "../secrets.ts";
import type { Step } from "../step.ts";
import { indent, table } from "../terminal.ts";
import type { World } from "../world.ts";

/** As many payments as are shown in full. */
const SHOWN = 3;

/** Everything public of these transactions: calldata, topics and data of the events. */
async function bytesOf(world: World, receipts: readonly TransactionReceipt[]): Promise<string> {
  const sent = await Promise.all(receipts.map(({ hash }) => world.provider.getTransaction(hash)));
  const logged = receipts.flatMap(({ logs }) => logs.flatMap(({ topics, data }) => [...topics, data]));
  return [...sent.map((transaction) => transaction?.data ?? ""), ...logged].join(" ").toLowerCase();
}

export const observer: Step = {
  title: "What the chain shows of all that, and what the service has seen",
  async play(world) {
    const { transactions, pool, screen, wire } = world;
    await transactions.news();
    const events = (receipt: TransactionReceipt) => eventsOf(pool, receipt);
    const receipts = transactions.receipts.filter((receipt) => events(receipt).some(({ type }) => type === "settled"));
    const payments = receipts.flatMap(events).filter((event) => event.type === "settled");
    const rows = payments.map(
      ({ nullifier, encryptedAmountR, encryptedAmountC, recipientCommitment, changeCommitment }) =>
        [nullifier, encryptedAmountR, encryptedAmountC, recipientCommitment, changeCommitment].map(short),
    );
    const titles = ["nullifier", "ciphertext R", "ciphertext C", "a new note", "another"];
    screen.write(indent(table([titles, ...rows.slice(0, SHOWN)])));
    const rest = `and ${payments.length - SHOWN} more rows like these`;
    const publicBytes = await bytesOf(world, receipts);
    const secrets = secretsOf(world);
    const leaked = secrets.filter(({ bytes }) => publicBytes.includes(bytes));
    if (leaked.length > 0) throw new CommandError("LEAKED", leaked.map(({ what }) => what).join(", "));
    const size = (publicBytes.length / 2 / 1024).toFixed(0);
    screen.write(
      `   ${rest}: ${payments.length} payments in ${receipts.length} transactions, ${size} KB of calldata and events.\n`,
    );
    screen.write(`   Searched for ${[...new Set(secrets.map(({ what }) => what))].join(", ")}: nothing found.\n`);
    const bundles = wire.seen.filter(({ path }) => path.endsWith("/zk/verify")).map(({ body }) => body as WireBundle);
    const seen = JSON.stringify(bundles).toLowerCase();
    const payer = [world.agent.account.address, world.agent.wallet.shieldedAddress];
    if (payer.some((address) => seen.includes(address.toLowerCase().slice(2))))
      throw new CommandError("LEAKED", "the service was shown who pays");
    screen.write(
      `   Of the same ${bundles.length} payments the service was shown recipient, resource and bounds of the amount,\n`,
    );
    screen.write("   and the network address they came from; not the agent's account or shielded address.\n");
    return {};
  },
};
