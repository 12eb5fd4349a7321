import { createErrorClass } from "@sotto/protocol";
import type { RELAYER_ERRORS } from "../error-definitions.ts";

export const RelayerError = /* @__PURE__ */ createErrorClass<typeof RELAYER_ERRORS>("RelayerError");
export type RelayerError = InstanceType<typeof RelayerError>;
