import type { CommandSet } from "./command.ts";
import { prepaidCommands } from "./prepaid/set.ts";

/** What the program `sotto` adds to the commands of every program. */
export const SETS: readonly CommandSet[] = [prepaidCommands];
