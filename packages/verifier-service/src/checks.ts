import { CheckResult } from "@sotto/server";

/** The service's own readiness checks. */
export const CHECKS = {
  chain: CheckResult,
  store: CheckResult,
  artifacts: CheckResult,
  head: CheckResult,
  fees: CheckResult,
  signer: CheckResult,
  relayer: CheckResult,
  budget: CheckResult,
  leader: CheckResult,
};
