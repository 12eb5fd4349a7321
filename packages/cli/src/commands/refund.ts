import type { WalletNote } from "@sotto/client";
import { checkReceipt } from "@sotto/client/receipts";
import { confirm, YES } from "../ask.ts";
import type { Command, Context } from "../command.ts";
import { amountFields, money } from "../format.ts";
import { CliError, usage } from "../frame/errors.ts";
import { readConfig } from "../home/config.ts";
import { type Session, scan, withWallet } from "../session.ts";
import { asValue, newTransfer, payTransfer, type TransferRecord } from "../transfer.ts";
import { readJson } from "./receipt.ts";
import { expectShieldedAddress } from "./send.ts";

/** What a payer's receipt answers, to be paid back at an address: nobody can claim it for another one. */
const refundChallenge = (shieldedAddress: string): string => `refund to ${shieldedAddress}`;

export const refund: Command = {
  name: "refund",
  summary: "Pays a payment back to a shielded address, once.",
  positionals: ["[PAYMENT]"],
  options: {
    to: { value: "ADDRESS", help: "the payer's shielded address" },
    receipt: { value: "FILE", help: "the payer's receipt, in place of PAYMENT: it proves who paid" },
    amount: { value: "AMOUNT", help: "less than was paid" },
    merge: { help: "joins notes first where no single one is enough" },
    ...YES,
  },
  details: [
    "PAYMENT is TRANSACTION:LEAF, as sotto receive and sotto payments list it. Anyone can name a payment and an address:",
    "with --receipt the payer has proved that it paid, and signed where the refund goes. It makes that receipt with",
    '  sotto receipt ID --challenge "refund to ADDRESS" [--show-deposit]',
    "Journalled before it is paid: a payment is refunded once, on one set of terms, and the same command goes on.",
  ],
  async run(context) {
    const { args, home } = context;
    const config = readConfig(home);
    const shieldedAddress = expectShieldedAddress(args.required("to"), "--to");
    const wanted = args.amount("amount", config.decimals);
    const [file, id] = [args.text("receipt"), args.optional(0)];
    if ((file === undefined) === (id === undefined)) throw usage("either PAYMENT or --receipt FILE");
    return withWallet(context, true, async (session) => {
      await scan(session);
      const note =
        file === undefined
          ? findNote(session, ({ transactionHash, leafIndex }) => `${transactionHash}:${leafIndex}` === id)
          : await noteOfReceipt(session, file, shieldedAddress);
      const amount = wanted ?? note.amount;
      if (amount > note.amount) throw usage(`the payment was ${money(note.amount, config)}: more is no refund`);
      const terms = { shieldedAddress, amount, resourceUrl: `urn:sotto:refund:${note.commitment.toString(16)}` };
      const { record, place } = await journalled(session, terms, note, () =>
        confirm(context, `pay ${money(amount, config)} back to ${shieldedAddress}?`),
      );
      const { transaction } = await payTransfer(session, record);
      await session.wallet.store.put(place, asValue({ ...record, transaction }));
      const payment = `${note.transactionHash}:${note.leafIndex}`;
      const json = { payment, ...amountFields(amount, config), recipientAddress: shieldedAddress, transaction };
      return { json, text: [`paid ${money(amount, config)} back: ${transaction}`] };
    });
  },
};

/** A payment that came in and counts. @throws CliError USAGE */
function findNote({ wallet }: Session, matches: (note: WalletNote) => boolean): WalletNote {
  const note = wallet.notes().find((one) => one.origin === "payment" && matches(one));
  if (note === undefined) throw usage("this wallet got no such payment; `sotto payments --in` lists them");
  if (note.state === "pending") throw new CliError("PENDING", "the payment does not have its confirmations yet");
  return note;
}

async function noteOfReceipt(session: Session, file: string, shieldedAddress: string): Promise<WalletNote> {
  const { context, chain, config, wallet } = session;
  const value = await readJson(context as Context, file);
  const checked = await checkReceipt(value, {
    chain,
    chainId: config.chainId,
    pool: config.pool,
    confirmations: config.finality + 1,
    challenge: refundChallenge(shieldedAddress),
  });
  if (checked.recipient.shieldedAddress !== wallet.shieldedAddress)
    throw new CliError("REFUSED", "the receipt is of a payment to somebody else");
  return findNote(session, ({ leafIndex }) => leafIndex === checked.leafIndex);
}

/**
 * The refund's record, written before anything is paid. It goes by the note's commitment, which a reorganisation does not
 * change.
 * @throws CliError ALREADY_REFUNDED
 */
async function journalled(
  { wallet: { store } }: Session,
  terms: Parameters<typeof newTransfer>[0],
  note: WalletNote,
  ask: () => Promise<void>,
): Promise<{ record: TransferRecord; place: string }> {
  const place = `refund/${note.commitment.toString(16)}`;
  const found = (await store.get(place))?.value as unknown as TransferRecord | undefined;
  if (found === undefined) {
    await ask();
    const record = newTransfer(terms);
    await store.put(place, asValue(record), 0);
    return { record, place };
  }
  const { transaction, shieldedAddress, amount } = found;
  if (transaction !== null)
    throw new CliError("ALREADY_REFUNDED", `this payment was paid back in ${transaction}`, { transaction });
  if (shieldedAddress !== terms.shieldedAddress || amount !== String(terms.amount))
    throw new CliError("ALREADY_REFUNDED", "this payment is being paid back already, on other terms", { amount });
  return { record: found, place };
}
