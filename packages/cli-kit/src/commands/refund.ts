import { addressOwnerTag } from "@sotto/protocol";
import type { WalletNote } from "@sotto/wallet";
import { assertReceipt } from "@sotto/wallet/receipts";
import { confirm, YES } from "../ask.ts";
import type { Command, Context } from "../command.ts";
import { asValue, createDirectPayment, type DirectPaymentRecord, payDirectly } from "../direct-payment.ts";
import { amountFields, money } from "../format.ts";
import { CliError, usage } from "../frame/errors.ts";
import { readConfig } from "../home/config.ts";
import { type Session, scan, withWallet } from "../session.ts";
import { readJson } from "./receipt.ts";
import { parseShieldedAddress } from "./send.ts";

/**
 * The challenge that the payer's receipt must answer. It names the refund address, so that nobody can redirect the
 * refund.
 */
const refundChallenge = (shieldedAddress: string): string => `refund to ${shieldedAddress}`;

export const refund: Command = {
  name: "refund",
  summary: "Refunds a payment to a shielded address, at most once.",
  positionals: ["[PAYMENT]"],
  options: {
    to: { value: "ADDRESS", help: "the payer's shielded address" },
    receipt: { value: "FILE", help: "the payer's receipt instead of PAYMENT: it proves who paid" },
    amount: { value: "AMOUNT", help: "amount to refund; default: the whole payment" },
    merge: { help: "merge notes first if no single note is large enough" },
    ...YES,
  },
  details: [
    "PAYMENT is TRANSACTION:LEAF, as `sotto receive` and `sotto payments` list it. Anyone can name a payment and an",
    "address. With --receipt, the payer has proved the payment and chosen where the refund goes. The payer makes it with",
    '  sotto receipt ID --challenge "refund to ADDRESS" [--show-deposit]',
    "A refund is recorded before it is paid, so a payment is refunded once. If interrupted, run the same command again.",
  ],
  async run(context) {
    const { args, home } = context;
    const config = readConfig(home);
    const shieldedAddress = parseShieldedAddress(args.required("to"), "--to");
    const wanted = args.amount("amount", config.decimals);
    const [file, id] = [args.text("receipt"), args.optional(0)];
    if ((file === undefined) === (id === undefined))
      throw usage("name the payment either as PAYMENT or with --receipt FILE");
    return withWallet(context, true, async (session) => {
      await scan(session);
      const note =
        file === undefined
          ? findNote(session, ({ transactionHash, leafIndex }) => `${transactionHash}:${leafIndex}` === id)
          : await noteOfReceipt(session, file, shieldedAddress);
      const amount = wanted ?? note.amount;
      if (amount > note.amount)
        throw usage(`--amount is ${money(amount, config)}, but the payment was ${money(note.amount, config)}`);
      const terms = { shieldedAddress, amount, resourceUrl: `urn:sotto:refund:${note.commitment.toString(16)}` };
      const { record, key } = await journalled(session, terms, note, () =>
        confirm(context, `refund ${money(amount, config)} to ${shieldedAddress}?`),
      );
      const { transaction } = await payDirectly(session, record);
      await session.wallet.store.put(key, asValue({ ...record, transaction }));
      const payment = `${note.transactionHash}:${note.leafIndex}`;
      const json = { payment, ...amountFields(amount, config), recipientAddress: shieldedAddress, transaction };
      return { json, text: [`refunded ${money(amount, config)}: ${transaction}`] };
    });
  },
};

/** Finds the note of a confirmed incoming payment. @throws CliError USAGE, PENDING */
function findNote({ wallet }: Session, matches: (note: WalletNote) => boolean): WalletNote {
  const note = wallet.notes().find((one) => one.origin === "payment" && matches(one));
  if (note === undefined)
    throw usage("this wallet did not receive that payment; `sotto payments --in` lists the incoming ones");
  if (note.state === "pending")
    throw new CliError("PENDING", "the payment is not confirmed yet; run the same command again later");
  return note;
}

async function noteOfReceipt(session: Session, file: string, shieldedAddress: string): Promise<WalletNote> {
  const { context, chain, config, wallet } = session;
  const value = await readJson(context as Context, file);
  const checked = await assertReceipt(value, {
    chain,
    chainId: config.chainId,
    pool: config.pool,
    confirmations: config.finality + 1,
    challenge: refundChallenge(shieldedAddress),
  });
  // The addresses of all months have the wallet's tag; `findNote` says whether it was paid at one of them.
  if (addressOwnerTag(checked.recipient.shieldedAddress) !== addressOwnerTag(wallet.shieldedAddress))
    throw new CliError("REFUSED", "the receipt is for a payment to another recipient");
  return findNote(session, ({ leafIndex }) => leafIndex === checked.leafIndex);
}

/**
 * Writes the refund's record before anything is paid. The record's key is the note's commitment, which a reorganization
 * does not change.
 * @throws CliError ALREADY_REFUNDED
 */
async function journalled(
  { wallet: { store } }: Session,
  terms: Parameters<typeof createDirectPayment>[0],
  note: WalletNote,
  ask: () => Promise<void>,
): Promise<{ record: DirectPaymentRecord; key: string }> {
  const key = `refund/${note.commitment.toString(16)}`;
  const found = (await store.get(key))?.value as unknown as DirectPaymentRecord | undefined;
  if (found === undefined) {
    await ask();
    const record = createDirectPayment(terms);
    await store.put(key, asValue(record), 0);
    return { record, key };
  }
  const { transaction, shieldedAddress, amount } = found;
  if (transaction !== null)
    throw new CliError("ALREADY_REFUNDED", `this payment was already refunded in ${transaction}`, { transaction });
  if (shieldedAddress !== terms.shieldedAddress || amount !== String(terms.amount))
    throw new CliError(
      "ALREADY_REFUNDED",
      "a refund of this payment with another address or amount was started; repeat that command",
      { amount },
    );
  return { record: found, key };
}
