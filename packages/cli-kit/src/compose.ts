import type { ErrorTable } from "@sotto/protocol";
import type { CommandSet, Program } from "./command.ts";
import { COMMANDS } from "./commands/index.ts";
import { COMMAND_ERRORS } from "./error-definitions.ts";

/**
 * The program of these sets.
 * @throws TypeError if two commands or different ways to pay have the same name, an error has two definitions, or the command
 *   after which a group is listed does not exist
 */
export function compose(sets: readonly CommandSet[]): Program {
  const commands = [...COMMANDS];
  const errors: Record<string, ErrorTable[string]> = { ...COMMAND_ERRORS };
  const methods = [...new Set(sets.flatMap((set) => set.methods ?? []))];
  for (const set of sets) {
    for (const { after, commands: added } of set.groups) {
      const place = commands.findIndex(({ name }) => name === after);
      if (place === -1) throw new TypeError(`the commands ${set.name} are listed after ${after}, which does not exist`);
      const twice = added.find(({ name }) => commands.some((other) => other.name === name));
      if (twice !== undefined) throw new TypeError(`the commands ${set.name} have ${twice.name}, which exists already`);
      commands.splice(place + 1, 0, ...added);
    }
    for (const [code, definition] of Object.entries(set.errors ?? {})) {
      if (Object.hasOwn(errors, code) && errors[code] !== definition)
        throw new TypeError(`the commands ${set.name} define ${code}, which is defined otherwise already`);
      errors[code] = definition;
    }
  }
  const twice = methods.find(({ name }, i) => methods.findIndex((other) => other.name === name) !== i);
  if (twice !== undefined) throw new TypeError(`two sets of commands pay with ${twice.name}`);
  const charges = sets.flatMap((set) => (set.charges === undefined ? [] : [set.charges]));
  const attends = sets.flatMap((set) => (set.attend === undefined ? [] : [set.attend]));
  return { commands, errors, methods, charges, attends };
}
