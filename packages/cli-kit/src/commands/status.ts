import { addressesDue, describeMonths, type Month, monthEnd, monthRange, monthStart } from "@sotto/protocol";
import type { Command } from "../command.ts";
import { table } from "../format.ts";
import { readConfig } from "../home/config.ts";
import { type Issued, readIssued } from "../home/months.ts";
import { laterText, serverMonths } from "../months.ts";

/** Something that the owner should do. */
interface Warning {
  readonly code: "ADDRESSES_ENDED" | "ADDRESSES_ENDING" | "ADDRESSES_LATER" | "SERVER_KEYS_DUE";
  readonly message: string;
}

export const status: Command = {
  name: "status",
  summary: "Shows this wallet's setup, and warns before its addresses and keys end.",
  positionals: [],
  options: {},
  details: [
    "It reads this folder only: the newest schedule of addresses that was signed here. It warns from 30 days before its last",
    "month begins, and when a resource server needs the viewing key of the next month.",
    "Warnings do not change the exit code; --json lists them with codes.",
  ],
  async run({ home, now }) {
    const { chainId, pool, service } = readConfig(home);
    const issued = readIssued(home);
    const { schedule, serverKeys } = issued;
    const warnings = warningsOf(issued, now());
    const addresses =
      schedule === undefined
        ? "none signed"
        : `${describeMonths(monthRange(schedule.firstMonth, schedule.lastMonth))}, sequence ${schedule.sequence}`;
    return {
      json: {
        home: home.folder,
        chainId,
        pool,
        service: service ?? null,
        schedule: schedule ?? null,
        serverKeys: serverKeys ?? null,
        warnings,
      },
      text: [
        ...table([
          ["wallet", home.folder],
          ["pool", `${pool} on chain ${chainId}`],
          ["service", service ?? "none"],
          ["addresses of months", addresses],
          ["server's keys", serverKeys === undefined ? "none written" : `to ${serverKeys}`],
        ]),
        ...warnings.map(({ message }) => `warning: ${message}`),
      ],
    };
  },
};

function warningsOf({ schedule, serverKeys }: Issued, now: number): Warning[] {
  const warnings: Warning[] = [];
  if (schedule !== undefined && now >= addressesDue(schedule.lastMonth)) warnings.push(ending(schedule.lastMonth, now));
  if (schedule !== undefined && now < monthStart(schedule.firstMonth))
    warnings.push({ code: "ADDRESSES_LATER", message: laterText(schedule.firstMonth) });
  const [, needed] = serverMonths(now);
  if (serverKeys !== undefined && serverKeys < needed)
    warnings.push({
      code: "SERVER_KEYS_DUE",
      message: `resource servers need the viewing key of ${needed}: write it with \`sotto view-key --next\``,
    });
  return warnings;
}

function ending(last: Month, now: number): Warning {
  const remedy = "sign the next ones into a new file with `sotto address schedule --out FILE`";
  return now >= monthEnd(last)
    ? {
        code: "ADDRESSES_ENDED",
        message: `the addresses ended with ${last}, so resource servers that use them cannot be paid; ${remedy}`,
      }
    : { code: "ADDRESSES_ENDING", message: `the last month of the addresses is ${last}; ${remedy}` };
}
