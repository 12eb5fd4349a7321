import { SETTINGS } from "./settings.ts";

/** The settings as a Markdown table, for docs/operations.md. */
export function settingsTable(): string {
  const rows = Object.values(SETTINGS).map(({ variable, fallback, about, secret }) => {
    const shown = fallback === undefined || fallback === "" ? "" : `\`${fallback}\``;
    return `| \`${variable}\` | ${shown} | ${about}${secret ? "; secret" : ""} |`;
  });
  return ["| variable | default | what it is |", "|---|---|---|", ...rows].join("\n");
}
