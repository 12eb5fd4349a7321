import type { Command, CommandSet } from "./command.ts";

/**
 * The commands of a program, in the order of `sotto --help`.
 * @param own the commands of every program
 * @throws TypeError if two commands have the same name, or the command after which a group is listed does not exist
 */
export function compose(own: readonly Command[], sets: readonly CommandSet[]): readonly Command[] {
  const all = [...own];
  for (const { name: set, groups } of sets)
    for (const { after, commands } of groups) {
      const place = all.findIndex(({ name }) => name === after);
      if (place === -1) throw new TypeError(`the commands ${set} are listed after ${after}, which does not exist`);
      const twice = commands.find(({ name }) => all.some((other) => other.name === name));
      if (twice !== undefined) throw new TypeError(`the commands ${set} have ${twice.name}, which exists already`);
      all.splice(place + 1, 0, ...commands);
    }
  return all;
}
