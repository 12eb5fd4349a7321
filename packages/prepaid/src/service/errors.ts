import { createErrorClass } from "@sotto/protocol";
import type { MIRROR_ERRORS } from "../error-definitions.ts";

/** An error of a mirror of prepaid keys. */
export const MirrorError = /* @__PURE__ */ createErrorClass<typeof MIRROR_ERRORS>("MirrorError");
export type MirrorError = InstanceType<typeof MirrorError>;
