import { amountFields, type Command, type Config, counted, listed, money, printable, withWallet } from "@sotto/cli-kit";
import { type FollowedStatus, reasonOf, STANDING_REASONS, type Standing, totalsOf } from "../wallet.ts";
import { withOrigins } from "./open.ts";

/** What a reason means, with the command that changes it. */
const WHY = { ...STANDING_REASONS, claim: "`sotto origin sync` sends the claim of the payment that made it" };

const inWords = (standing: Standing): string => {
  const why = reasonOf(standing);
  return why === undefined ? "" : WHY[why];
};

/** A set in the output of `--json`. */
export const statusFields = (status: FollowedStatus, config: Pick<Config, "decimals">) => {
  const { curator, name, url, mirrors, head, crowd, minimumCrowd, removal, stopped, problem, spends } = status;
  return {
    ...{ curator, name, url, mirrors, crowd, minimumCrowd, spends },
    head: head === undefined ? null : { ...head, time: new Date(head.time * 1000).toISOString() },
    removal: removal ?? null,
    stopped: stopped === undefined ? null : { ...stopped, at: new Date(stopped.at).toISOString() },
    problem: problem === undefined ? null : { ...problem, since: new Date(problem.since).toISOString() },
    notes: status.notes.map(({ note, standing }) => ({
      leafIndex: note.leafIndex,
      ...amountFields(note.amount, config),
      state: note.state,
      in: standing.in,
      why: reasonOf(standing) ?? null,
    })),
  };
};

/** A set for people. */
export function statusText(status: FollowedStatus, config?: Pick<Config, "decimals" | "symbol">): string[] {
  const { name, curator, url, head, crowd, minimumCrowd, removal, stopped, problem, notes, spends } = status;
  const enough = crowd >= minimumCrowd ? "" : `, below the minimum of ${minimumCrowd}: nothing is shown`;
  const lines = [
    `${printable(name)} of ${curator}, ${printable(url)}`,
    head === undefined
      ? "  no head yet"
      : `  head ${head.number} of ${new Date(head.time * 1000).toISOString()}: ${counted(head.members, "note")}`,
    `  crowd: ${crowd}${enough}`,
  ];
  if (stopped !== undefined) lines.push(`  stopped: ${printable(stopped.message)}`);
  // The other two say what the same failure asks of the owner.
  else if (problem !== undefined && removal === undefined)
    lines.push(`  fails since ${new Date(problem.since).toISOString()}: ${printable(problem.message)}`);
  if (removal !== undefined)
    lines.push(`  the next head brings the removed notes to ${removal}: accept it with --accept-removal`);
  if (spends.due > 0) lines.push(`  ${counted(spends.due, "payment")} to claim: \`sotto origin sync\``);
  if (config === undefined || notes.length === 0) return lines;
  const rows = notes.map(({ note, standing }) => [
    String(note.leafIndex),
    money(note.amount, config),
    standing.in === "set" ? "in the set" : standing.in,
    inWords(standing),
  ]);
  const { inSet, waiting, outside } = totalsOf(status);
  const totals = `in the set: ${money(inSet, config)}, waiting: ${money(waiting, config)}, outside: ${money(outside, config)}`;
  return [...lines, `  ${totals}`, ...listed(rows, "").map((row) => `  ${row}`)];
}

export const originStatus: Command = {
  name: "origin status",
  summary: "Shows the sets that the wallet follows, and which notes are in them.",
  positionals: [],
  options: {},
  details: [
    "in the set: the note's origin can be shown. waiting: it may still join. outside: it is spent without an origin, and never",
    "together with notes in the set, unless you say --mix. crowd: how many notes could be the one that is shown.",
  ],
  async run(context) {
    return withWallet(context, false, ({ wallet, config }) =>
      withOrigins(wallet, async (origins) => {
        await wallet.scan({ signal: context.signal });
        const found = origins.status();
        return {
          json: found.map((status) => statusFields(status, config)),
          text: found.length === 0 ? ["no set is followed"] : found.flatMap((status) => statusText(status, config)),
        };
      }),
    );
  },
};
