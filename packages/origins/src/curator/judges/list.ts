import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { type Address, ANONYMOUS, parseAddress, readBody, SottoError } from "@sotto/protocol";
import type { ServiceLog } from "@sotto/server";
import { CuratorError } from "../errors.ts";
import { ACCEPT, type Judge, REFUSE, type Watcher } from "./judge.ts";

/** Maximum size of a list, bytes: about a million addresses. */
const MAX_LIST_BYTES = 48 * 2 ** 20;
const TIMEOUT_MS = 30_000;
/** Addresses that are parsed at once: a checksum takes up to 0.1 ms, and the curator's other work waits. */
const AT_ONCE = 500;

export interface ListOptions {
  /** deny: refuses the accounts of the list; allow: refuses all others. */
  readonly kind: "deny" | "allow";
  /** Path of a file, or an http or https URL. */
  readonly source: string;
  /** How often it is read, ms. */
  readonly everyMs: number;
  readonly log: Pick<ServiceLog, "info">;
  /** Now, ms. */
  readonly clock: () => number;
}

/** The addresses of a list: one a line; empty lines and what follows a # are left out. @throws SottoError INVALID_ADDRESS */
export async function parseList(text: string): Promise<Set<Address>> {
  const addresses = new Set<Address>();
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end).replace(/#.*$/, "").trim();
    start = end + 1;
    if (line === "") continue;
    count += 1;
    addresses.add(parseAddress(line, `address ${count} of the list`));
    if (count % AT_ONCE === 0) await setImmediate();
  }
  return addresses;
}

/**
 * A list of accounts. It is read again and again, and its hash is logged when it changes. Until it was read, deposits wait; if it
 * cannot be read later, the last one counts. An empty allow-list counts as unreadable: it would clear the whole set.
 */
export function listJudge({ kind, source, everyMs, log, clock }: ListOptions): Judge {
  let addresses: Set<Address> | undefined;
  let hash: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const isRefused = (depositor: Address): boolean =>
    addresses !== undefined && addresses.has(depositor) === (kind === "deny");
  const read = async ({ changed, failed }: Watcher): Promise<void> => {
    try {
      const bytes = await readSource(source);
      const found = createHash("sha256").update(bytes).digest("hex");
      if (found === hash) return;
      const list = await parseList(new TextDecoder().decode(bytes));
      if (kind === "allow" && list.size === 0) throw unread("it is empty");
      [addresses, hash] = [list, found];
      log.info({ kind, sha256: found, addresses: list.size }, "a list of addresses was read");
      changed();
    } catch (error) {
      const why = error instanceof SottoError ? error.message : codeOf(error);
      failed(error instanceof CuratorError ? error : unread(why, error));
    }
  };
  return {
    name: `${kind}-list`,
    parameters: { source: publicSource(source) },
    async judge({ depositor }) {
      if (addresses === undefined) return { verdict: "wait", again: clock() + everyMs };
      return isRefused(depositor) ? REFUSE : ACCEPT;
    },
    refuses: ({ depositor }) => isRefused(depositor),
    async start(watcher) {
      await read(watcher);
      const again = (): void => {
        if (stopped) return;
        timer = setTimeout(() => void read(watcher).then(again), everyMs);
        timer.unref();
      };
      again();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

const isUrl = (source: string): boolean => /^https?:\/\//.test(source);

/** The host of a URL: its path may contain a key. Where a file is concerns nobody else. */
const publicSource = (source: string): string => (isUrl(source) ? new URL(source).host : "file");

const unread = (why: string, cause?: unknown) =>
  new CuratorError("ORIGIN_JUDGE_FAILED", `the list cannot be read: ${why}`, {}, { cause });

/** The code of an error, such as ENOENT, or its name: a message may contain a path or a URL. */
const codeOf = (error: unknown): string => {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === "string" ? code : String(name);
};

async function readSource(source: string): Promise<Uint8Array> {
  if (!isUrl(source)) {
    const { size } = await stat(source);
    if (size > MAX_LIST_BYTES) throw unread(`it has ${size} bytes, at most ${MAX_LIST_BYTES} are allowed`);
    return readFile(source);
  }
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // A redirect may lead from https to http, where anybody can change the list.
  const response = await fetch(source, { ...ANONYMOUS, redirect: "manual", signal });
  if (response.ok) return readBody(response, MAX_LIST_BYTES, signal);
  await response.body?.cancel();
  throw unread(`status ${response.status}, expected 200`);
}
