import { createErrorClass } from "@sotto/protocol";
import type { ORIGIN_SERVICE_ERRORS } from "./error-definitions.ts";

/** An error of a service that makes origins a condition, or mirrors heads. */
export const OriginServiceError = /* @__PURE__ */ createErrorClass<typeof ORIGIN_SERVICE_ERRORS>("OriginServiceError");
export type OriginServiceError = InstanceType<typeof OriginServiceError>;
