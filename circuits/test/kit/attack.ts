import { type Edit, edit, type Sources } from "./sources.ts";
import type { Inputs } from "./witness.ts";

/** The value of a signal by its name without "main.", in the cheater's witness. */
export type Read = (name: string) => bigint;

/** A cheating prover who gets away with a lie once the constraint group `tag` is gone. */
export interface Attack {
  tag: string;
  /** What the cheater does, as the end of the sentence "refuses ...". */
  title: string;
  /** The circuit: the text of a main over the gadget, or the path of one of the four mains. */
  main: string;
  /** Makes a main small, by its parameters. Only the last line of its file may change, below every tag. */
  shrink?: Edit;
  /**
   * What the cheater's generator computes otherwise, made after the group is gone (so `<==` in it reads `<--`, and its
   * anonymous components are cut0, cut1, ...). The file is the tag's unless named.
   */
  edits?: readonly (Omit<Edit, "file"> & { file?: string })[];
  /** What the cheater feeds the generator; computed late, so that listing the attacks costs nothing. */
  inputs: () => Inputs | Promise<Inputs>;
  /** Whether what the witness claims is false, judged without the circuit. A lie that is none shows nothing. */
  harm: (read: Read) => boolean | Promise<boolean>;
}

/** The sources with the main as small as the attack wants it. */
export const shrunk = (sources: Sources, { shrink }: Attack): Sources =>
  shrink === undefined ? sources : edit(sources, [shrink]);
