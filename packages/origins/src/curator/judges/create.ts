import type { ChainSource } from "@sotto/chain";
import type { ServiceLog } from "@sotto/server";
import type { JudgeConfig } from "../config/config.ts";
import type { CuratorStore } from "../store/store.ts";
import { delayJudge } from "./delay.ts";
import type { Judge } from "./judge.ts";
import { listJudge } from "./list.ts";
import { oracleJudge } from "./oracle.ts";
import { personJudge } from "./person.ts";
import { webhookJudge } from "./webhook.ts";

export interface JudgeParts {
  readonly chain: ChainSource;
  readonly store: CuratorStore;
  readonly log: ServiceLog;
  /** Now, ms. */
  readonly clock: () => number;
}

/** The configured judges, in the order in which they are asked: those that answer at once first. */
export function createJudges(config: JudgeConfig, { chain, store, log, clock }: JudgeParts): Judge[] {
  const { denyList, allowList, listMs: everyMs, oracle, person, webhook, delaySeconds } = config;
  const judges: Judge[] = [];
  if (denyList !== undefined) judges.push(listJudge({ kind: "deny", source: denyList, everyMs, log, clock }));
  if (allowList !== undefined) judges.push(listJudge({ kind: "allow", source: allowList, everyMs, log, clock }));
  if (oracle !== undefined) judges.push(oracleJudge(chain, oracle));
  if (person) judges.push(personJudge(store));
  if (webhook !== undefined) judges.push(webhookJudge({ ...webhook, clock }));
  judges.push(delayJudge(delaySeconds, clock));
  return judges;
}
