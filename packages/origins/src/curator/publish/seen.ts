import { decodeHead, headDigest, MAX_HEAD_BYTES, type SignedHead } from "../../core/head.ts";
import { HEAD_PATH } from "../../core/publication.ts";
import { type OriginSet, setId } from "../../core/set.ts";
import { CuratorError } from "../errors.ts";
import type { CuratorStore } from "../store/store.ts";
import { readHeadFile } from "./publisher.ts";

const TIMEOUT_MS = 10_000;

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
      const head = await fetchHead(url).catch(() => undefined);
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

/** The head at a base URL; undefined if it shows none. */
async function fetchHead(url: string): Promise<SignedHead | undefined> {
  const response = await fetch(`${url}/${HEAD_PATH}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_HEAD_BYTES) return undefined;
    chunks.push(chunk);
  }
  return response.ok ? decodeHead(JSON.parse(Buffer.concat(chunks).toString("utf8"))) : undefined;
}
