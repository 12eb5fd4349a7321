import { createErrorClass, type ErrorDetails } from "@sotto/protocol";
import type { STORE_ERRORS } from "../error-definitions.ts";

export const StoreError = /* @__PURE__ */ createErrorClass<typeof STORE_ERRORS>("StoreError");
export type StoreError = InstanceType<typeof StoreError>;

export function assertRecord(condition: boolean, what: string, details: ErrorDetails = {}): void {
  if (!condition) throw new StoreError("INVALID_RECORD", what, details);
}
