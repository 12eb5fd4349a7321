import { createErrorClass } from "@sotto/protocol";
import type { SERVICE_CLIENT_ERRORS } from "../error-definitions.ts";

/** The codes of a {@link ServiceClientError}. */
export type ServiceClientErrorCode = keyof typeof SERVICE_CLIENT_ERRORS;

/** An error of `SottoService`. No message repeats a token or the contents of a request. */
export const ServiceClientError = /* @__PURE__ */ createErrorClass<typeof SERVICE_CLIENT_ERRORS>("ServiceClientError");
export type ServiceClientError = InstanceType<typeof ServiceClientError>;
