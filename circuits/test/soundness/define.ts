import type { Attack } from "../kit/attack.ts";
import { gadget } from "../kit/gadget.ts";

/** The attacks on one gadget share its main and, by default, its inputs and its `harm`. */
export function on(file: string, component: string, shared: Partial<Pick<Attack, "inputs" | "harm">>) {
  const main = gadget(file, component);
  return (tag: string, title: string, own: Partial<Omit<Attack, "tag" | "title" | "main">>): Attack => {
    const { inputs, harm } = { ...shared, ...own };
    if (inputs === undefined || harm === undefined) throw new Error(`${tag}: an attack needs inputs and harm`);
    return { tag, title, main, ...own, inputs, harm };
  };
}

/** One replacement in the tag's file. */
export const swap = (find: string, replace: string) => ({ edits: [{ find, replace }] });
