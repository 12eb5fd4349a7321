import { type Edit, edit, type Sources } from "@sotto/keys/source/sources";
import type { Inputs } from "./witness.ts";

/** The value of a signal by its name without "main.", in the cheater's witness. */
export type Read = (name: string) => bigint;

/** A cheating prover that succeeds with a false claim once the constraint group `tag` is removed. */
export interface Attack {
  tag: string;
  /** What the cheater tries, as the end of the sentence "rejects ...". */
  title: string;
  /** The circuit: the text of a main that contains only the gadget, or the path of one of the mains. */
  main: string;
  /** Shrinks a main through its parameters. Only the last line of its file may change, below every tag. */
  shrink?: Edit;
  /**
   * Edits of the cheater's generator, made after the group is removed (so its `<==` are `<--`, and its anonymous
   * components are cut0, cut1, ...). By default they are made in the file that has the tag.
   */
  edits?: readonly (Omit<Edit, "file"> & { file?: string })[];
  /** Inputs of the cheater's generator; computed late, so that listing the attacks is cheap. */
  inputs: () => Inputs | Promise<Inputs>;
  /** Whether the witness's claim is false, judged without the circuit. An attack with a true claim proves nothing. */
  harm: (read: Read) => boolean | Promise<boolean>;
}

/** The sources, with the main shrunk as the attack specifies. */
export const shrunk = (sources: Sources, { shrink }: Attack): Sources =>
  shrink === undefined ? sources : edit(sources, [shrink]);
