import type { Command } from "../command.ts";
import { walletKeysOf } from "../home/viewing-keys.ts";

export const address: Command = {
  name: "address",
  summary: "Shows this wallet's shielded address, which is public.",
  positionals: [],
  options: { month: { value: "MONTH", help: "the address of this month (UTC), such as 2026-12" } },
  details: [
    "Without --month it is the lasting address, which never ends. A merchant is paid at addresses of months: the viewing",
    "key of one shows that month's payments only. `sotto address schedule` signs them for a resource server.",
  ],
  async run(context) {
    const month = context.args.month("month");
    const keys = walletKeysOf(context);
    const shieldedAddress = month === undefined ? keys.shieldedAddress() : keys.ofMonth(month).shieldedAddress;
    return { json: { shieldedAddress, ...(month === undefined ? {} : { month }) }, text: [shieldedAddress] };
  },
};
