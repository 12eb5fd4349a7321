import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type Address, parseAddress } from "@sotto/protocol";
import type { ServiceLog } from "@sotto/server";
import { ACCEPT, type Judge, REFUSE } from "./judge.ts";

/** Maximum size of a list, bytes: about a million addresses. */
const MAX_LIST_BYTES = 48 * 2 ** 20;
const TIMEOUT_MS = 30_000;

export interface ListOptions {
  /** deny: refuses the accounts of the list; allow: refuses all others. */
  readonly kind: "deny" | "allow";
  /** Path of a file, or an http or https URL. */
  readonly source: string;
  /** How often it is read, ms. */
  readonly everyMs: number;
  readonly log: Pick<ServiceLog, "info" | "warn">;
  /** Now, ms. */
  readonly clock: () => number;
}

/** The addresses of a list: one a line; empty lines and what follows a # are left out. @throws SottoError INVALID_ADDRESS */
export function parseList(text: string): Set<Address> {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*$/, "").trim());
  return new Set(
    lines.filter((line) => line !== "").map((line, i) => parseAddress(line, `address ${i + 1} of the list`)),
  );
}

/**
 * A list of accounts. It is read again and again, and its hash is logged when it changes. Until it was read, deposits wait; if it
 * cannot be read later, the last one counts. An empty allow-list counts as unreadable: it would clear the whole set.
 */
export function listJudge({ kind, source, everyMs, log, clock }: ListOptions): Judge {
  let addresses: Set<Address> | undefined;
  let hash: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const isRefused = (depositor: Address): boolean =>
    addresses !== undefined && addresses.has(depositor) === (kind === "deny");
  const read = async (changed: () => void): Promise<void> => {
    try {
      const text = await readSource(source);
      const found = createHash("sha256").update(text).digest("hex");
      if (found === hash) return;
      const list = parseList(text);
      if (kind === "allow" && list.size === 0) throw new Error("the allow-list is empty");
      [addresses, hash] = [list, found];
      log.info({ kind, sha256: found, addresses: list.size }, "a list of addresses was read");
      changed();
    } catch (error) {
      log.warn({ err: error, kind }, "a list of addresses cannot be read; the last one counts");
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
    async start(changed) {
      await read(changed);
      const again = (): void => {
        timer = setTimeout(() => void read(changed).then(again), everyMs);
        timer.unref();
      };
      again();
    },
    stop: () => clearTimeout(timer),
  };
}

const isUrl = (source: string): boolean => /^https?:\/\//.test(source);

/** The host of a URL: its path may contain a key. Where a file is concerns nobody else. */
const publicSource = (source: string): string => (isUrl(source) ? new URL(source).host : "file");

async function readSource(source: string): Promise<string> {
  if (!isUrl(source)) return readFile(source, "utf8");
  const response = await fetch(source, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_LIST_BYTES) throw new Error("the list is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
