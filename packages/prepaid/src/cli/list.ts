import {
  amountFields,
  type Command,
  type Config,
  counted,
  listed,
  money,
  printable,
  usage,
  withWallet,
} from "@sotto/cli-kit";
import { csvOf } from "@sotto/wallet/receipts";
import {
  type ChargeEvent,
  listCharges,
  listPrepaid,
  type PrepaidCharge,
  type PrepaidOrigin,
  type PrepaidPackInfo,
} from "../client.ts";
import type { SignedReceipt } from "../index.ts";

export const prepaidList: Command = {
  name: "prepaid list",
  summary: "Lists prepaid tokens by merchant, with change and what was charged.",
  positionals: [],
  options: { csv: { help: "write the charges as CSV (RFC 4180) instead of the list" } },
  details: [
    "begun: its payment may be on the way. paid: the merchant has not signed it yet. ready: its tokens can be spent. void:",
    "the merchant returned a wrong signature. dropped: you gave it up. For begun and paid, `sotto prepaid buy` resumes the",
    "purchase and never pays twice. Stopped: no token is bought or shown until `sotto prepaid resume` or",
    "`sotto prepaid drop`; --json has the signed statements that are the evidence. Change: tokens that came back from requests of",
    "metered routes. underway: its change has not arrived, see `sotto prepaid merge`.",
  ],
  async run(context) {
    const csv = context.args.flag("csv");
    if (csv && context.output.json) throw usage("--csv and --json cannot be combined");
    return withWallet(context, false, async ({ config, wallet }) => {
      const found = await listPrepaid(wallet);
      const charges = await listCharges(wallet);
      if (csv) {
        context.output.raw(chargesCsv(charges, config));
        return undefined;
      }
      const chargesOf = ({ origin }: PrepaidOrigin) => charges.filter((charge) => charge.origin === origin);
      return {
        json: found.map((each) => jsonOf(each, chargesOf(each), config)),
        text: textOf(found, charges, config),
      };
    });
  },
};

/** A pack in the output of `--json`. */
export const packFields = (pack: PrepaidPackInfo, config: Config) => {
  const { id, state, value, epoch, count, left, restored, created } = pack;
  const begun = new Date(created).toISOString();
  return { id, state, value: amountFields(value, config), epoch, count, left, restored, begun };
};

const COLUMNS = ["at", "origin", "method", "target", "units", "amount", "decimal", "change"];

/** Charges as CSV: the amount is what was charged. */
export const chargesCsv = (charges: readonly PrepaidCharge[], config: Pick<Config, "decimals">): string =>
  csvOf(
    COLUMNS,
    charges.map(({ at, origin, method, target, units, charge, change }) => {
      const { amount, decimal } = amountFields(charge, config);
      const counted = Object.entries(units).map(([name, count]) => `${name}=${count}`);
      return [new Date(at).toISOString(), origin, method, target, counted.join(" "), amount, decimal, String(change)];
    }),
  );

/** What a receipt says, in the output of `--json`. */
const chargedFields = (
  { origin, method, target, units, charge, change }: Omit<ChargeEvent, "receipt">,
  config: Config,
) => ({
  origin,
  method,
  target,
  units: Object.fromEntries(Object.entries(units).map(([name, count]) => [name, String(count)])),
  charge: amountFields(charge, config),
  change: amountFields(change, config),
});

/** A charge in the output of `--json`. */
export const chargeFields = (event: ChargeEvent, config: Config) => ({
  ...chargedFields(event, config),
  receipt: JSON.parse(event.receipt) as unknown,
});

/** A receipt in the output of `--json`. */
export const receiptFields = ({ receipt }: SignedReceipt, config: Config) => ({
  ...chargedFields(receipt, config),
  epoch: receipt.epoch,
});

const jsonOf = (
  { origin, unspent, stopped, packs, change, underway }: PrepaidOrigin,
  charges: readonly PrepaidCharge[],
  config: Config,
) => ({
  origin,
  unspent: amountFields(unspent, config),
  underway: amountFields(underway, config),
  change: change.map(({ value, epoch, count }) => ({ value: amountFields(value, config), epoch, count })),
  charges: charges.map((charge) => ({ at: new Date(charge.at).toISOString(), ...chargeFields(charge, config) })),
  stopped: stopped === undefined ? null : { ...stopped, at: new Date(stopped.at).toISOString() },
  packs: packs.map((pack) => packFields(pack, config)),
});

/** The list for people. */
export function textOf(
  found: readonly PrepaidOrigin[],
  charges: readonly PrepaidCharge[],
  config: Pick<Config, "decimals" | "symbol">,
): string[] {
  const rows = found.flatMap(({ origin, packs }) =>
    packs.map(({ state, left, count, value, epoch }) => [
      printable(origin),
      state,
      `${left} of ${counted(count, "token")}`,
      money(value, config),
      epoch,
    ]),
  );
  const change = found.flatMap(({ origin, change }) =>
    change.map(({ value, epoch, count }) => [
      printable(origin),
      "change",
      counted(count, "token"),
      money(value, config),
      epoch,
    ]),
  );
  const sums = found.flatMap((each) => {
    const own = charges.filter(({ origin }) => origin === each.origin);
    const sum = own.reduce((total, { charge }) => total + charge, 0n);
    const open = each.underway === 0n ? "" : `; ${money(each.underway, config)} are underway`;
    if (own.length === 0 && open === "") return [];
    return [`${printable(each.origin)} charged ${money(sum, config)} for ${counted(own.length, "request")}${open}`];
  });
  const stops = found.flatMap(({ origin, stopped }) =>
    stopped === undefined ? [] : [`stopped at ${printable(origin)}: ${printable(stopped.message)}`],
  );
  return [...listed([...rows, ...change], "no prepaid tokens"), ...sums, ...stops];
}
