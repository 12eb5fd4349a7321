import { createErrorClass } from "@sotto/protocol";
import type { PHONE_ERRORS, REGISTRY_ERRORS } from "./error-definitions.ts";

/** The codes of a {@link PhoneError}. */
export type PhoneErrorCode = keyof typeof PHONE_ERRORS;

/** An error of the registry's HTTP layer, startup or code sender. */
export const PhoneError = /* @__PURE__ */ createErrorClass<typeof PHONE_ERRORS>("PhoneError");
export type PhoneError = InstanceType<typeof PhoneError>;

/** The codes of a {@link RegistryError}. */
export type RegistryErrorCode = keyof typeof REGISTRY_ERRORS;

/** An error of the registry. */
export const RegistryError = /* @__PURE__ */ createErrorClass<typeof REGISTRY_ERRORS>("RegistryError");
export type RegistryError = InstanceType<typeof RegistryError>;
