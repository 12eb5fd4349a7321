import { payPhone, phoneNumberOf } from "@sotto/client";
import { decodeShieldedAddress, invisibleCharacter, SottoError, trimPasted } from "@sotto/protocol";
import { hexlify, keccak256, randomBytes, toUtf8Bytes } from "ethers";
import { confirm, YES } from "../ask.ts";
import type { Command } from "../command.ts";
import { asValue, createDirectPayment, type DirectPaymentRecord, payDirectly } from "../direct-payment.ts";
import { amountFields, money } from "../format.ts";
import { toAmount } from "../frame/arguments.ts";
import { usage } from "../frame/errors.ts";
import { readConfig } from "../home/config.ts";
import { acceptRecipient, STAGES } from "../paying.ts";
import { type Session, serviceOf, withWallet } from "../session.ts";
import { REGISTRY, registryOf } from "./phone.ts";

/**
 * Spaces and invisible characters around the address are ignored.
 * @throws CliError USAGE
 */
export function parseShieldedAddress(given: string, name: string): string {
  const value = trimPasted(given);
  const invisible = invisibleCharacter(value);
  if (invisible !== undefined) throw usage(`${name} is not a shielded address: it contains ${invisible}`);
  try {
    decodeShieldedAddress(value);
    return value;
  } catch (error) {
    if (error instanceof SottoError) throw usage(`${name} is not a shielded address: expected 0x and 128 hex digits`);
    throw error;
  }
}

export const send: Command = {
  name: "send",
  summary: "Pays an amount to a shielded address or a phone number, privately.",
  positionals: ["AMOUNT"],
  options: {
    to: { value: "ADDRESS", help: "a shielded address, as `sotto address` shows it, or a phone number" },
    "new-recipient": { help: "accept that the phone number now has a different wallet or shielded address" },
    ...REGISTRY,
    wallet: {
      value: "ADDRESS",
      help: "the recipient's wallet address that the payment names; default: a random one",
    },
    merge: { help: "merge notes first if no single note is large enough" },
    ...YES,
  },
  details: [
    "The service settles it, like any payment. If the command is interrupted, run it again to resume. Once it is done,",
    "the same command pays again.",
  ],
  async run(context) {
    const { args, home, output } = context;
    const config = readConfig(home);
    const amount = toAmount(args.positional(0, "AMOUNT"), "AMOUNT", config.decimals);
    const to = trimPasted(args.required("to"));
    const phone = to.startsWith("+") ? phoneNumberOf(to) : undefined;
    const target = phone ?? parseShieldedAddress(to, "--to");
    const wallet = args.address("wallet");
    if (phone !== undefined && wallet !== undefined)
      throw usage("--wallet needs a shielded address in --to: a phone number already names the wallet");
    await confirm(context, `pay ${money(amount, config)} to ${target}?`);
    return withWallet(context, true, async (session) => {
      const { store } = session.wallet;
      const place = `send/${keccak256(toUtf8Bytes(JSON.stringify([target, String(amount), wallet ?? null]))).slice(2, 34)}`;
      const found = (await store.get(place))?.value as unknown as DirectPaymentRecord | undefined;
      if (found !== undefined) output.note("resuming the same payment, which was interrupted");
      const resourceUrl = `urn:sotto:send:${hexlify(randomBytes(16)).slice(2)}`;
      const record =
        found ??
        createDirectPayment({ shieldedAddress: phone === undefined ? target : "", amount, resourceUrl }, wallet);
      if (found === undefined) await store.put(place, asValue(record), 0);
      const paid = await pay(session, phone, record).catch(async (error: unknown) => {
        if (isUnpaid(error)) await store.delete(place);
        throw error;
      });
      await store.delete(place);
      const { transaction, digest } = paid;
      const recipientAddress = "shieldedAddress" in paid ? paid.shieldedAddress : target;
      const json = { ...amountFields(amount, config), recipientAddress, transaction, digest };
      return { json, text: [`paid ${money(amount, config)}: ${transaction}`] };
    });
  },
};

const pay = (session: Session, phone: string | undefined, record: DirectPaymentRecord) =>
  phone === undefined ? payDirectly(session, record) : payNumber(session, phone, record);

/** Errors thrown before anything was paid; after one of them, the next call is a new payment. */
const UNPAID = new Set(["INSUFFICIENT_FUNDS", "MERGE_REQUIRED", "NOTES_APART", "FUNDS_TIMED_OUT"]);
const isUnpaid = (error: unknown): boolean => error instanceof SottoError && UNPAID.has(error.code);

/** Pays the wallet of a phone number, at most once for the record's key, and pins that wallet. */
async function payNumber(session: Session, phone: string, { key, amount, resourceUrl }: DirectPaymentRecord) {
  const { context, config, wallet } = session;
  const { args, output, signal } = context;
  const request = { phone, amount: BigInt(amount), key, resourceUrl, registry: registryOf(context, config) };
  const { txSignature, digest, shieldedAddress } = await payPhone(wallet, serviceOf(config), request, {
    signal,
    merge: args.flag("merge"),
    confirmChange: ({ known, offered }) => acceptRecipient(context, phone, known, offered),
    onProgress: ({ stage }) => output.progress(STAGES[stage]),
  });
  return { transaction: txSignature, digest, shieldedAddress };
}
