import type { Lease } from "@sotto/database";
import type { ServiceLog } from "@sotto/server";
import { encodeHead } from "../../core/head.ts";
import { nextHead } from "../../core/publish.ts";
import type { OriginSet } from "../../core/set.ts";
import type { SetWriter } from "../set/writer.ts";
import type { Policy } from "./policy.ts";

/** A head is signed at least this often, also if nothing changed: readers tell a curator that stopped from one without news. */
export const MAX_HEAD_SECONDS = 3_600;

export interface HeadOptions {
  readonly writer: SetWriter;
  readonly set: OriginSet;
  readonly policy: Policy;
  /** The curator's private key, 32 bytes. */
  readonly secret: Uint8Array;
  readonly slotSeconds: number;
  readonly log: Pick<ServiceLog, "info">;
  /** Now, ms. */
  readonly clock: () => number;
}

/** Signs heads: at most one for each slot, and only if something changed or an hour passed. */
export class Heads {
  readonly #options: HeadOptions;
  /** What was found unchanged: nothing is hashed again until something is new. */
  #unchanged = -1;

  constructor(options: HeadOptions) {
    this.#options = options;
  }

  /** Stores the next head if it is due. @returns whether it did */
  async sign(lease: Lease): Promise<boolean> {
    const { writer, slotSeconds, clock } = this.#options;
    const { replica } = writer;
    const time = Math.floor(clock() / 1000 / slotSeconds) * slotSeconds;
    const isDue = (): boolean => {
      const last = replica.head;
      if (replica.block === undefined) return false;
      if (last === undefined) return true;
      if (time <= last.time) return false;
      return time - last.time >= MAX_HEAD_SECONDS || replica.version !== this.#unchanged || !this.#hasPolicy();
    };
    if (!isDue()) return false;
    return writer.change(async (db) => {
      if (!isDue()) return false;
      const { set, policy, secret } = this.#options;
      const { block, appended: leaves, entries, log, head: last, version } = replica;
      const place = { block: block!.number, blockHash: block!.hash, blockTime: block!.timestamp };
      const { claims, mask } = replica.state;
      const facts = { ...set, time, ...place, leaves, entries, claims, log, policy: policy.hash };
      const { signed } = nextHead(mask, facts, last, secret);
      const isSame =
        last !== undefined &&
        // The chain has its block.
        replica.newest?.files !== undefined &&
        time - last.time < MAX_HEAD_SECONDS &&
        signed.head.maskRoot === last.maskRoot &&
        leaves === last.leaves &&
        log === last.log &&
        this.#hasPolicy();
      if (isSame) {
        this.#unchanged = version;
        return false;
      }
      if (last !== undefined && !this.#hasPolicy())
        this.#options.log.info(
          { from: last.policy, to: policy.hash },
          "the policy is another one than the last head's: settings changed, or differ between replicas",
        );
      await db
        .insertInto("origin_policies")
        .values({ hash: policy.hash, content: policy.text })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const content = JSON.stringify(encodeHead(signed));
      const { number } = signed.head;
      await db
        .insertInto("origin_heads")
        .values({ number, time, block_number: place.block, on_chain: 1, entries, content })
        .execute();
      return true;
    }, lease);
  }

  #hasPolicy(): boolean {
    return this.#options.writer.replica.head?.policy === this.#options.policy.hash;
  }
}
