import type { WireBundle } from "@sotto/protocol";
import type { TransactionReceipt } from "ethers";
import { CommandError } from "../../lib/command.ts";
import { eventsOf, short } from "../observer.ts";
import { searchSecrets } from "../secrets.ts";
import type { Step } from "../step.ts";
import { indent, say, table } from "../terminal.ts";

/** As many payments as are shown in full. */
const SHOWN = 3;

export const observer: Step = {
  title: "What the chain shows of all that, and what the service has seen",
  async play(world) {
    const { transactions, pool, screen, wire } = world;
    const events = (receipt: TransactionReceipt) => eventsOf(pool, receipt);
    const receipts = transactions.receipts.filter((receipt) => events(receipt).some(({ type }) => type === "settled"));
    const payments = receipts.flatMap(events).filter((event) => event.type === "settled");
    const rows = payments.map(({ nullifier, ephemeralX, hiddenCipherX, recipientCommitment, changeCommitment }) =>
      [nullifier, ephemeralX, hiddenCipherX, recipientCommitment, changeCommitment].map(short),
    );
    const titles = ["nullifier", "ciphertext R", "hidden C", "a new note", "another"];
    screen.write(indent(table([titles, ...rows.slice(0, SHOWN)])));
    const { secrets, found, size } = await searchSecrets(world, receipts);
    if (found.length > 0) throw new CommandError("LEAKED", `the chain shows ${found.join(", ")}`);
    const count = `${payments.length} payments in ${receipts.length} transactions, ${(size / 1024).toFixed(0)} KB`;
    say(screen, `and ${payments.length - SHOWN} more rows like these: ${count} of calldata and events.`);
    say(screen, `Searched for ${secrets.join(", ")}: nothing found.`);
    const bundles = wire.seen.filter(({ path }) => path.endsWith("/zk/verify")).map(({ body }) => body as WireBundle);
    const seen = JSON.stringify(bundles).toLowerCase();
    const payer = [world.agent.account.address, world.agent.wallet.shieldedAddress];
    if (payer.some((address) => seen.includes(address.toLowerCase().slice(2))))
      throw new CommandError("LEAKED", "the service was shown who pays");
    say(
      screen,
      `Of the same ${bundles.length} payments the service was shown recipient, resource and bounds of the amount, and the network address they came from. Not the agent's account, nor its shielded address.`,
    );
    return {};
  },
};
