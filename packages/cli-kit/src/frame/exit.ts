import type { ErrorTable, ExitName } from "@sotto/protocol";

/** Exit codes, for scripts. docs/cli.md has this table; the numbers never change. */
export const EXIT = {
  ok: { code: 0, means: "done" },
  failed: { code: 1, means: "any other error" },
  usage: { code: 2, means: "an option, an argument or a setting is wrong; nothing was done" },
  refused: {
    code: 3,
    means: "refused by a limit, by the user or by the server; nothing was paid, unless the message says so",
  },
  funds: { code: 4, means: "not enough: missing funds, or notes that have to be merged first" },
  pending: { code: 5, means: "not finished: run the same command again to resume" },
  network: { code: 6, means: "the node, the service or the resource server does not answer, or answers unexpectedly" },
  invalid: { code: 7, means: "a receipt, totals, a signature or a backup is invalid" },
  busy: { code: 8, means: "another process is using this wallet" },
  key: { code: 9, means: "no key where one is needed, or a key file that others can read" },
  status: { code: 10, means: "the request was answered with a status of 400 or more" },
  interrupted: { code: 130, means: "interrupted by SIGINT or SIGTERM: run the same command again to resume" },
} as const satisfies Record<ExitName | "ok", { code: number; means: string }>;

/** The exit code for an error code. @param errors the definitions of the program */
export function exitOf(code: string, errors: ErrorTable): number {
  const definition = Object.hasOwn(errors, code) ? errors[code] : undefined;
  return EXIT[definition?.exit ?? "failed"].code;
}
