import { createErrorClass } from "@sotto/protocol";
import type { ENGINE_ERRORS } from "../error-definitions.ts";

export type EngineErrorCode = keyof typeof ENGINE_ERRORS;

/** An error of the verify engine. */
export const EngineError = /* @__PURE__ */ createErrorClass<typeof ENGINE_ERRORS>("EngineError");
export type EngineError = InstanceType<typeof EngineError>;
