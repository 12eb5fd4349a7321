import { createErrorClass } from "@sotto/protocol";
import type { SERVICE_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link ServiceError}. */
export type ServiceErrorCode = keyof typeof SERVICE_ERRORS;

/** An error of the service. */
export const ServiceError = /* @__PURE__ */ createErrorClass<typeof SERVICE_ERRORS>("ServiceError");
export type ServiceError = InstanceType<typeof ServiceError>;
