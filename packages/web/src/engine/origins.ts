// The curators' sets that the wallet follows: what the page shows of them, and what their owner decides.
import { type FollowedStatus, type Origins, STANDING_REASONS, totalsOf } from "@sotto/origins/wallet";
import { trimPasted } from "@sotto/protocol";
import { WebError } from "../errors.ts";
import type { OriginView, SetName } from "./api.ts";
import type { Context } from "./context.ts";

const FIELDS: readonly string[] = ["curator", "name", "url", "mirrors", "minimumCrowd"];

export function originView(status: FollowedStatus): OriginView {
  const { curator, name, url, mirrors, head, crowd, minimumCrowd, spends, removal, stopped, problem } = status;
  const { reasons, ...totals } = totalsOf(status);
  return {
    ...{ curator, name, url, mirrors, crowd, minimumCrowd, removal },
    head: head === undefined ? undefined : { number: head.number, at: head.time * 1000, notes: head.members },
    ...totals,
    reasons: reasons.map(({ why, in: place, amount }) => ({ place, amount, text: STANDING_REASONS[why] })),
    toClaim: spends.due,
    stopped: stopped === undefined ? undefined : { code: stopped.code, message: stopped.message, details: {} },
    problem: problem === undefined ? undefined : { code: problem.code, message: problem.message, details: {} },
  };
}

/** @throws WebError CURATOR_SETTINGS_INVALID; OriginError INVALID_OPTION */
export async function followOrigin({ origins }: Context, text: string): Promise<void> {
  const settings = parseSettings(text);
  // `follow` checks the values.
  await origins.follow(settings as unknown as Parameters<Origins["follow"]>[0]);
}

function parseSettings(text: string): Record<string, unknown> {
  const invalid = (message: string, cause?: unknown) =>
    new WebError("CURATOR_SETTINGS_INVALID", message, {}, { cause });
  let json: unknown;
  try {
    json = JSON.parse(trimPasted(text));
  } catch (cause) {
    throw invalid("the text is not JSON", cause);
  }
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw invalid("the text is not a JSON object");
  const unknown = Object.keys(json).find((name) => !FIELDS.includes(name));
  // A misspelled minimum would otherwise be ignored.
  if (unknown !== undefined) throw invalid(`there is no setting ${JSON.stringify(unknown.slice(0, 40))}`);
  return json as Record<string, unknown>;
}

/** Accepts that the curator removed many notes. */
export async function acceptRemoval({ origins }: Context, set: SetName): Promise<void> {
  const found = origins.status().find(({ curator, name }) => curator === set.curator && name === set.name);
  if (found !== undefined) await origins.follow(found, { acceptRemoval: true });
}

/** Takes new heads, and sends claims that are due now. Problems of a set are in its view. */
export async function syncOrigins({ origins }: Context): Promise<void> {
  await origins.sync({ retry: true });
}
