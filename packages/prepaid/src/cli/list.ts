import { amountFields, type Command, type Config, listed, money, printable, withWallet } from "@sotto/cli-kit";
import { listPrepaid, type PrepaidOrigin, type PrepaidPackInfo } from "../client.ts";

export const prepaidList: Command = {
  name: "prepaid list",
  summary: "Lists prepaid tokens by merchant.",
  positionals: [],
  options: {},
  details: [
    "begun: its payment may be on the way. paid: the merchant has not signed it yet. ready: its tokens can be spent. void:",
    "the merchant returned a wrong signature. dropped: you gave it up. For begun and paid, `sotto prepaid buy` resumes the",
    "purchase and never pays twice. Stopped: no token is bought or shown until `sotto prepaid resume` or",
    "`sotto prepaid drop`; --json has the signed schedules that are the evidence.",
  ],
  async run(context) {
    return withWallet(context, false, async ({ config, wallet }) => {
      const found = await listPrepaid(wallet);
      return { json: found.map((each) => jsonOf(each, config)), text: textOf(found, config) };
    });
  },
};

/** A pack in the output of `--json`. */
export const packFields = (pack: PrepaidPackInfo, config: Config) => {
  const { id, state, value, epoch, count, left, restored, created } = pack;
  const begun = new Date(created).toISOString();
  return { id, state, value: amountFields(value, config), epoch, count, left, restored, begun };
};

const jsonOf = ({ origin, unspent, stopped, packs }: PrepaidOrigin, config: Config) => ({
  origin,
  unspent: amountFields(unspent, config),
  stopped: stopped === undefined ? null : { ...stopped, at: new Date(stopped.at).toISOString() },
  packs: packs.map((pack) => packFields(pack, config)),
});

function textOf(found: readonly PrepaidOrigin[], config: Config): string[] {
  const rows = found.flatMap(({ origin, packs }) =>
    packs.map(({ state, left, count, value, epoch }) => [
      printable(origin),
      state,
      `${left} of ${count} tokens`,
      money(value, config),
      epoch,
    ]),
  );
  const stops = found.flatMap(({ origin, stopped }) =>
    stopped === undefined ? [] : [`stopped at ${printable(origin)}: ${printable(stopped.message)}`],
  );
  return [...listed(rows, "no prepaid tokens"), ...stops];
}
