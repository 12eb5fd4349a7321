import type { Lease } from "@sotto/database";
import type { JudgementEntry } from "../../core/log.ts";
import type { Db } from "../store/schema.ts";
import { appendEntries, type CuratorStore } from "../store/store.ts";
import type { Replica } from "./replica.ts";
import { Turns } from "./turns.ts";

/** The set of this process, and how it is changed: always in the database first, and from its newest state. */
export class SetWriter {
  readonly replica: Replica;
  readonly #store: CuratorStore;
  readonly #turns = new Turns();
  /** The reading that has not begun. */
  #next: Promise<void> | undefined;

  constructor(store: CuratorStore, replica: Replica) {
    this.#store = store;
    this.replica = replica;
  }

  /** Takes what is new in the database. Calls that wait for their turn share one reading. */
  sync(): Promise<void> {
    this.#next ??= this.#turns.run(() => {
      this.#next = undefined;
      return this.#store.snapshot((db) => this.replica.sync(db));
    });
    return this.#next;
  }

  /** Runs `action` in a transaction, with the newest set. Nobody else changes the log or the heads meanwhile. */
  change<T>(action: (db: Db) => Promise<T>, lease?: Lease): Promise<T> {
    return this.#turns.run(async () => {
      const run = async (db: Db): Promise<T> => {
        await this.replica.sync(db);
        return action(db);
      };
      return lease === undefined ? this.#store.write(run) : this.#store.lead(lease, run);
    });
  }

  /** Appends judgements, without those that would change nothing any more. @returns those that were appended */
  judge(
    lease: Lease,
    entries: readonly JudgementEntry[],
    also?: (db: Db) => Promise<void>,
  ): Promise<readonly JudgementEntry[]> {
    return this.change(async (db) => {
      const news = entries.filter((entry) => this.replica.state.judgementProblem(entry) === undefined);
      await appendEntries(db, news);
      await also?.(db);
      return news;
    }, lease);
  }
}
