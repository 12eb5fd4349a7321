// The path at which a paywall publishes the schedule of its addresses.
import { SCHEDULE_PATH, type ScheduleJson } from "@sotto/protocol";
import type { PaywallRequest } from "../routes/options.ts";
import { answered, wrongMethod } from "./responses.ts";
import type { Decision, MethodPath } from "./types.ts";

export class PublishedSchedule {
  readonly path: MethodPath = { method: "GET", path: SCHEDULE_PATH };
  readonly #body: Uint8Array<ArrayBuffer>;

  constructor(schedule: ScheduleJson) {
    this.#body = new TextEncoder().encode(JSON.stringify(schedule));
  }

  /** The answer to a request; undefined if it is for another path. */
  answer({ method }: Pick<PaywallRequest, "method">, target: string): Decision | undefined {
    if (target.split("?", 1)[0] !== SCHEDULE_PATH) return undefined;
    if (method === "GET" || method === "HEAD") return answered(this.#body, "application/json; charset=utf-8");
    return wrongMethod("GET, HEAD");
  }
}
