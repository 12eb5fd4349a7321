import type { Lifetime } from "@sotto/command/lifetime";
import type { Screen } from "@sotto/command/terminal";
import type { Programs } from "./programs.ts";

/** What every part of the rehearsal uses. */
export interface Rehearsal {
  readonly screen: Screen;
  readonly lifetime: Lifetime;
  /** Keeps phase 1, the copy of the checkout, and the files of one run in `run`. */
  readonly folder: string;
  /** The copy of the checkout. */
  readonly copy: string;
  readonly programs: Programs;
}
