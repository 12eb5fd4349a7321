import { settingsTable as tableOf } from "@sotto/server";
import { SETTINGS } from "./settings.ts";

/** The settings as a Markdown table, for docs/operations.md. */
export const settingsTable = (): string => tableOf(SETTINGS);
