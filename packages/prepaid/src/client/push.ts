import { type CallOptions, ServiceClientError, type SottoService } from "@sotto/wallet";
import {
  MAX_PREPAID_EPOCHS,
  MAX_PREPAID_VALUES,
  type WireSignedMeteredTerms,
  type WireSignedSchedule,
} from "../index.ts";

/** How many keys of a pushed schedule a mirror did not have, and how many it had. */
export interface PushedSchedule {
  /** Keys that the mirror did not have. */
  readonly accepted: number;
  /** Keys that it had. */
  readonly known: number;
}

const MAX_SCHEDULE_KEYS = MAX_PREPAID_EPOCHS * MAX_PREPAID_VALUES;
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= MAX_SCHEDULE_KEYS;

/**
 * Pushes a signed schedule of prepaid keys to the service's mirror, which keeps the first key for each value and epoch.
 * @throws ServiceClientError SERVICE_REFUSED (details.reason PREPAID_SCHEDULE_CONFLICT if it keeps another key),
 *   SERVICE_ANSWER_INVALID
 */
export async function pushSchedule(
  service: SottoService,
  signed: WireSignedSchedule,
  options: CallOptions = {},
): Promise<PushedSchedule> {
  const { accepted, known } = await service.post("prepaid/schedules", signed, options);
  if (isCount(accepted) && isCount(known)) return { accepted, known };
  throw new ServiceClientError(
    "SERVICE_ANSWER_INVALID",
    "the service's answer has no accepted and known, the numbers of new and known keys",
  );
}

/** Whether a mirror did not have pushed terms. */
export interface PushedTerms {
  /** False if the mirror had them. */
  readonly accepted: boolean;
}

/**
 * Pushes signed terms of metered routes to the service's mirror, which keeps the first rule of each route and month, and the first
 * receipt key of each month.
 * @throws ServiceClientError SERVICE_REFUSED (details.reason PREPAID_TERMS_CONTRADICTED if it keeps others),
 *   SERVICE_ANSWER_INVALID
 */
export async function pushTerms(
  service: SottoService,
  signed: WireSignedMeteredTerms,
  options: CallOptions = {},
): Promise<PushedTerms> {
  const { accepted } = await service.post("prepaid/terms", signed, options);
  if (typeof accepted === "boolean") return { accepted };
  throw new ServiceClientError(
    "SERVICE_ANSWER_INVALID",
    "the service's answer does not say whether it accepted the terms",
  );
}
