import type { PackRecord } from "./records.ts";

/** Tokens of change of one month at one wallet of a merchant, that are swapped up to one cap. */
export interface HeldChange {
  readonly epoch: string;
  /** Base units, decimal. */
  readonly cap: string;
  /** The merchant's wallet. */
  readonly wallet: string;
  /** How many tokens of each value, which is in base units, decimal. */
  readonly counts: ReadonlyMap<string, number>;
}

interface Group extends HeldChange {
  readonly counts: Map<string, number>;
}

/** What a pack adds to a group. */
interface Part {
  readonly group: Group;
  readonly value: string;
  readonly count: number;
}

/** Counts the tokens of change that can be shown. A wallet may have thousands of their packs, and each swap looks at the counts. */
export class ChangeCounts {
  /** By origin, and by what a group's tokens have in common. */
  readonly #groups = new Map<string, Map<string, Group>>();
  /** By pack. */
  readonly #parts = new Map<string, Part>();

  /** The change at an origin. */
  at(origin: string): readonly HeldChange[] {
    return [...(this.#groups.get(origin)?.values() ?? [])];
  }

  /** Counts a pack anew. @param count how many of its tokens can be shown */
  note(pack: PackRecord, count: number): void {
    this.forget(pack.id);
    if (pack.change === undefined || count === 0) return;
    const part = { group: this.#groupOf(pack, pack.change.cap), value: pack.value, count };
    add(part, count);
    this.#parts.set(pack.id, part);
  }

  /** Counts a pack no longer. */
  forget(id: string): void {
    const part = this.#parts.get(id);
    if (part === undefined) return;
    add(part, -part.count);
    this.#parts.delete(id);
  }

  #groupOf({ origin, epoch, wallet }: PackRecord, cap: string): Group {
    const groups = this.#groups.get(origin) ?? new Map<string, Group>();
    this.#groups.set(origin, groups);
    const name = `${epoch} ${cap} ${wallet}`;
    const group = groups.get(name) ?? { epoch, cap, wallet, counts: new Map() };
    groups.set(name, group);
    return group;
  }
}

function add({ group: { counts }, value }: Part, count: number): void {
  const sum = (counts.get(value) ?? 0) + count;
  if (sum === 0) counts.delete(value);
  else counts.set(value, sum);
}
