import type { CommandSet } from "@sotto/cli-kit";
import { prepaidCommands } from "@sotto/prepaid/cli";

/** What the program `sotto` adds to the commands of every program. */
export const SETS: readonly CommandSet[] = [prepaidCommands];
