// Writes the files that a head names, and then the head.
import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { decodeHead, headDigest, type SignedHead } from "../../core/head.ts";
import {
  ENTRIES_PER_PACK,
  HEAD_PATH,
  HEADS_PER_PACK,
  headPackPath,
  logPackPath,
  policyPath,
} from "../../core/publication.ts";
import type { Newest } from "../set/replica.ts";
import type { CuratorStore } from "../store/store.ts";

/** Publishes heads of the database as files. Each replica has a folder of its own, or they share one. */
export class Publisher {
  readonly #store: CuratorStore;
  readonly #folder: string;
  readonly #onFile: (path: string) => void;
  /** What the folder has: how many heads and entries are complete. */
  #done: { readonly heads: number; readonly entries: number } | undefined;

  /** @param onFile called before each file is replaced; for tests */
  constructor(store: CuratorStore, folder: string, onFile: (path: string) => void = () => undefined) {
    this.#store = store;
    this.#folder = folder;
    this.#onFile = onFile;
  }

  /** Publishes the newest head. If its files are not known any more, the next head publishes everything. */
  async publish({ signed, files }: Newest): Promise<void> {
    const { number, entries, policy } = signed.head;
    this.#done ??= await this.#readDone();
    if (files === undefined || this.#done.heads > number) return;
    const { db } = this.#store;
    for (const [path, bytes] of files) await this.#write(path, bytes, true);
    const { content } = await db
      .selectFrom("origin_policies")
      .select("content")
      .where("hash", "=", policy)
      .executeTakeFirstOrThrow();
    await this.#write(policyPath(policy), content, true);
    await this.#writePacks(this.#done.entries, entries, ENTRIES_PER_PACK, logPackPath, async (from, to) => {
      const rows = await db
        .selectFrom("origin_entries")
        .select("line")
        .where("number", ">=", from)
        .where("number", "<", to)
        .orderBy("number")
        .execute();
      return rows.map(({ line }) => line);
    });
    const heads = async (from: number, to: number) => {
      const rows = await db
        .selectFrom("origin_heads")
        .select("content")
        .where("number", ">=", from)
        .where("number", "<", to)
        .orderBy("number")
        .execute();
      return rows.map((row) => row.content);
    };
    await this.#writePacks(this.#done.heads, number + 1, HEADS_PER_PACK, headPackPath, heads);
    const [line] = await heads(number, number + 1);
    await this.#write(HEAD_PATH, `${line}\n`, false);
    this.#done = { heads: number + 1, entries };
  }

  /** Writes the packs that are not complete. */
  async #writePacks(
    done: number,
    count: number,
    perPack: number,
    pathOf: (pack: number) => string,
    linesOf: (from: number, to: number) => Promise<string[]>,
  ): Promise<void> {
    if (done === count) return;
    for (let pack = Math.floor(done / perPack); pack * perPack < count; pack += 1) {
      const lines = await linesOf(pack * perPack, Math.min(count, (pack + 1) * perPack));
      await this.#write(pathOf(pack), lines.map((line) => `${line}\n`).join(""), false);
    }
  }

  /** A folder that has a head of this set has everything that the head names. */
  async #readDone(): Promise<{ readonly heads: number; readonly entries: number }> {
    const shown = await readHeadFile(this.#folder);
    if (shown === undefined) return { heads: 0, entries: 0 };
    const { number } = shown.head;
    const row = await this.#store.db
      .selectFrom("origin_heads")
      .select(["content", "entries"])
      .where("number", "=", number)
      .executeTakeFirst();
    const isOurs = row !== undefined && headDigest(decodeHead(JSON.parse(row.content)).head) === headDigest(shown.head);
    return isOurs ? { heads: number + 1, entries: row.entries } : { heads: 0, entries: 0 };
  }

  /** Replaces a file at once: a reader sees the old one or the new one. @param fixed whether its content never changes */
  async #write(path: string, content: Uint8Array | string, fixed: boolean): Promise<void> {
    const file = join(this.#folder, path);
    if (fixed && (await exists(file))) return;
    await mkdir(dirname(file), { recursive: true });
    // Replicas in containers have the same process id, and may share the folder.
    const temporary = `${file}.${randomUUID()}.new`;
    try {
      const handle = await open(temporary, "wx", 0o644);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      this.#onFile(path);
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** The head in a folder; undefined if there is none, or it is not a signed head. */
export async function readHeadFile(folder: string): Promise<SignedHead | undefined> {
  try {
    return decodeHead(JSON.parse(await readFile(join(folder, HEAD_PATH), "utf8")));
  } catch {
    return undefined;
  }
}
