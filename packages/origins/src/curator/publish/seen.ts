import { decodeHead, headDigest, type SignedHead } from "../../core/head.ts";
import { type OriginSet, setId } from "../../core/set.ts";
import { readNewest } from "../../heads/read.ts";
import { CuratorError } from "../errors.ts";
import type { CuratorStore } from "../store/store.ts";
import { readHeadFile } from "./publisher.ts";

export interface SeenOptions {
  readonly store: CuratorStore;
  readonly set: OriginSet;
  /** The folder of the published files. */
  readonly folder: string;
  /** Base URLs at which heads of the set are shown: its own, and mirrors. */
  readonly urls: readonly string[];
  /** Called with each URL that does not answer. */
  readonly unreachable: (url: string) => void;
}

/**
 * Compares the database with what was published: a restored backup must not sign another head of a number that readers have seen.
 * @throws CuratorError ORIGIN_STORE_OUTDATED
 */
export async function assertNewest({ store, set, folder, urls, unreachable }: SeenOptions): Promise<void> {
  const shown = await Promise.all([
    readHeadFile(folder).then((head) => ({ where: folder, head })),
    ...urls.map(async (url) => {
      const head = await readNewest(fetch, url, set).catch(() => undefined);
      if (head === undefined) unreachable(url);
      return { where: url, head };
    }),
  ]);
  for (const { where, head } of shown)
    if (head !== undefined && setId(head.head) === setId(set)) await assertKnown(store, where, head);
}

async function assertKnown({ db }: CuratorStore, where: string, { head }: SignedHead): Promise<void> {
  const { number } = head;
  const row = await db.selectFrom("origin_heads").select("content").where("number", "=", number).executeTakeFirst();
  const own = row && headDigest(decodeHead(JSON.parse(row.content)).head);
  if (own === headDigest(head)) return;
  const last = await db
    .selectFrom("origin_heads")
    .select("number")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  const has =
    last === undefined
      ? "has no head"
      : own === undefined
        ? `ends with head ${last.number}`
        : "has another head of this number";
  throw new CuratorError(
    "ORIGIN_STORE_OUTDATED",
    `${where} shows head ${number} of this set, and the database ${has}`,
    {
      number,
    },
  );
}
