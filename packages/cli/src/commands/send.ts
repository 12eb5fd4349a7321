import { decodeShieldedAddress, SottoError } from "@sotto/protocol";
import { hexlify, keccak256, randomBytes, toUtf8Bytes } from "ethers";
import { confirm, YES } from "../ask.ts";
import { amountFields, money } from "../format.ts";
import { toAmount } from "../frame/arguments.ts";
import type { Command } from "../frame/command.ts";
import { usage } from "../frame/errors.ts";
import { readConfig } from "../home/config.ts";
import { withWallet } from "../session.ts";
import { asValue, newTransfer, payTransfer, type TransferRecord } from "../transfer.ts";

/** @throws CliError USAGE */
export function expectShieldedAddress(value: string, name: string): string {
  try {
    decodeShieldedAddress(value);
    return value;
  } catch (error) {
    if (error instanceof SottoError) throw usage(`${name} is no shielded address: 64 bytes as hex with 0x`);
    throw error;
  }
}

export const send: Command = {
  name: "send",
  summary: "Pays an amount to a shielded address, privately.",
  positionals: ["AMOUNT"],
  options: {
    to: { value: "ADDRESS", help: "the shielded address, as sotto address shows it" },
    wallet: { value: "ADDRESS", help: "wallet address to name with it; default: nobody's" },
    merge: { help: "joins notes first where no single one is enough" },
    ...YES,
  },
  details: [
    "Through the service, like any payment. If it breaks off, the same command goes on with it; once it is done, the same",
    "command pays again.",
  ],
  async run(context) {
    const { args, home, output } = context;
    const config = readConfig(home);
    const amount = toAmount(args.positional(0, "AMOUNT"), "AMOUNT", config.decimals);
    const shieldedAddress = expectShieldedAddress(args.required("to"), "--to");
    const wallet = args.address("wallet");
    await confirm(context, `pay ${money(amount, config)} to ${shieldedAddress}?`);
    return withWallet(context, true, async (session) => {
      const { store } = session.wallet;
      const terms = JSON.stringify([shieldedAddress, String(amount), wallet ?? null]);
      const place = `send/${keccak256(toUtf8Bytes(terms)).slice(2, 34)}`;
      const found = (await store.get(place))?.value as unknown as TransferRecord | undefined;
      if (found !== undefined) output.note("going on with the same payment, which was begun before");
      const resourceUrl = `urn:sotto:send:${hexlify(randomBytes(16)).slice(2)}`;
      const record = found ?? newTransfer({ shieldedAddress, amount, resourceUrl }, wallet);
      if (found === undefined) await store.put(place, asValue(record), 0);
      const { transaction, digest } = await payTransfer(session, record);
      await store.delete(place);
      const json = { ...amountFields(amount, config), recipientAddress: shieldedAddress, transaction, digest };
      return { json, text: [`paid ${money(amount, config)}: ${transaction}`] };
    });
  },
};
