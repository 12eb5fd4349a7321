import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeEvent, type PoolEvent, queuedLeaves } from "@sotto/chain";
import { POOL } from "@sotto/test-chain/pool";
import type { World } from "../../../wallet/test/support/world.ts";
import {
  type AuditReport,
  auditSet,
  bitmapPath,
  decodeHead,
  decodeManifest,
  HEAD_PATH,
  hasBit,
  headPackPath,
  logPackPath,
  manifestPath,
  type OriginClaim,
  type OriginSet,
  policyPath,
  type SignedHead,
} from "../../src/index.ts";

const read = (folder: string, path: string): Buffer => readFileSync(join(folder, path));

/** The lines of all packs. */
export function linesOf(folder: string, pathOf: (pack: number) => string): string[] {
  const lines: string[] = [];
  for (let pack = 0; existsSync(join(folder, pathOf(pack))); pack += 1)
    lines.push(...read(folder, pathOf(pack)).toString("utf8").trimEnd().split("\n").filter(Boolean));
  return lines;
}

export const newestHead = (folder: string): SignedHead =>
  decodeHead(JSON.parse(read(folder, HEAD_PATH).toString("utf8")));

export const headsOf = (folder: string): SignedHead[] =>
  linesOf(folder, headPackPath).map((line) => decodeHead(JSON.parse(line)));

/** The leaves in the set, by the published bitmaps of the newest head. */
export function membersOf(folder: string): number[] {
  const { head } = newestHead(folder);
  const chunks = decodeManifest(read(folder, manifestPath(head.manifest)), head);
  return chunks.flatMap(({ hash }, chunk) => {
    const bitmap = read(folder, bitmapPath(hash));
    return Array.from({ length: bitmap.length * 8 }, (_, i) => i)
      .filter((i) => hasBit(bitmap, i))
      .map((i) => chunk * bitmap.length * 8 + i);
  });
}

export const policyOf = (folder: string): unknown =>
  JSON.parse(read(folder, policyPath(newestHead(folder).head.policy)).toString("utf8"));

/** The pool's events on a chain in memory. */
export const eventsOf = async ({ chain }: World): Promise<PoolEvent[]> =>
  (await chain.logs({ address: POOL, from: 0, to: chain.height })).flatMap((log) => decodeEvent(log) ?? []);

/** Recomputes a published set from the chain and the published log. */
export async function audit(
  world: World,
  folder: string,
  set: OriginSet,
  verify: (claim: OriginClaim) => Promise<boolean> = async () => true,
): Promise<AuditReport> {
  const events = await eventsOf(world);
  const leaves = events.flatMap((event) => [...queuedLeaves(event)]);
  return auditSet(set, {
    heads: headsOf(folder),
    lines: linesOf(folder, logPackPath),
    events,
    leafAt: (index) => leaves[index]!,
    lastBlock: world.chain.height,
    block: (number) => world.chain.block(number),
    verify,
  });
}
