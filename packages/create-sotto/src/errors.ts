import { createErrorClass } from "@sotto/protocol";
import type { CREATE_ERRORS } from "./error-definitions.ts";

/** An error of `create-sotto`: its message says what to do. */
export const CreateError = /* @__PURE__ */ createErrorClass<typeof CREATE_ERRORS>("CreateError");
export type CreateError = InstanceType<typeof CreateError>;
